// SPDX-License-Identifier: Apache-2.0
// Links as they are written, each of which may stand for several wires, and a row for each in lists.
import { h } from './dom.js'

/** Whether two have the same ends. */
export const same = (link, other) => !!link && !!other && link.from === other.from && link.to === other.to

/** The link that a wire is of. */
export function written(parts, wire) {
	const [out, into] = [`${wire.from}.${wire.output}`, `${wire.to}.${wire.input}`]
	const fits = (end, node, port) => end === node || end === port || (end.includes('.') && port.startsWith(end + '_'))
	const rank = ({ from, to }) => (from === out) + (to === into)
	return parts.links.filter(({ from, to }) => fits(from, wire.from, out) && fits(to, wire.to, into)).sort((a, b) => rank(b) - rank(a))[0]
}

/** All links with their wires, and with the kind of what those carry. */
export function linksOf(parts) {
	const wires = new Map(parts.links.map(link => [link, []]))
	for (const wire of parts.wires) wires.get(written(parts, wire))?.push(wire)
	return parts.links.map(link => ({ ...link, wires: wires.get(link), kind: wires.get(link)[0]?.kind }))
}

export const unlink = (app, { from, to }) => app.does('unlink', { link: `${from} -> ${to}` }, () => `Unlinked: ${from} from ${to}`)

/** Gives a link another gain; what the host does not take is as it was. */
async function regain(app, input, link, before) {
	const gain = input.valueAsNumber
	const done = gain !== before && (await app.does('link', { link, gain_db: gain }, () => `${link}: ${gain} dB`))
	if (!done) input.value = before
}

/** A link with its gain where it carries sound, and what takes it away. */
export function linkRow(app, { from, to, gain_db: gain, kind = 'audio' }, text = `${from} → ${to}`) {
	const disabled = !app.live.may('owner')
	return h('li', { class: 'head' }, h('span', { class: 'ends' }, text),
		kind === 'audio' && h('label', { class: 'gain' }, h('input', { type: 'number', step: 0.5, value: gain, disabled,
			'aria-label': `Gain from ${from} to ${to} in dB`,
			onchange: ({ target }) => regain(app, target, `${from} -> ${to}`, gain) }), 'dB'),
		h('button', { type: 'button', 'aria-label': `Unlink ${from} from ${to}`, disabled, onclick: () => unlink(app, { from, to }) }, 'Unlink'))
}
