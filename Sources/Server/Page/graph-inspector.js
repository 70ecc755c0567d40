// SPDX-License-Identifier: Apache-2.0
// What is chosen in the drawing, beside it: a node with all that can be done to it, or a link.
import { fill, h } from './dom.js'
import { keeper } from './graph-drawing.js'
import { linkRow, linksOf } from './graph-links.js'
import { cards } from './nodes.js'

const button = (text, onclick, given) => h('button', { type: 'button', onclick, ...given }, text)

/** `closes` is called when it is to close, `inserts` when a node is wanted in the link that is shown. */
export function inspector(app, { closes, inserts }) {
	const { find } = app
	const own = cards(app)
	const box = find('inspector')
	const state = h('span', { class: 'quiet' })
	const kept = keeper()
	const close = button('Close', closes, { 'aria-label': 'Close inspector' })
	const head = h('div', { class: 'head' }, state, close)
	let shown

	function node({ node }, types) {
		const { parts } = app
		const type = types?.find(({ name }) => name === node.type)
		const links = linksOf(parts).filter(({ from, to }) => [from, to].some(end => end.split('.')[0] === node.name))
		return [own.of(node, parts), type && kept('about', type.name, () => h('details', {}, h('summary', {}, `About ${type.name}`),
			h('p', {}, type.summary), type.doc && h('p', { class: 'quiet' }, type.doc))),
		kept('links', [node.name, links, app.live.readOnly], () => h('div', {}, h('h3', {}, 'Links'),
			h('ul', {}, ...links.map(link => linkRow(app, link)))))]
	}

	function link({ link }) {
		const { from, to, kind, wires } = link
		const joins = wires.length > 1 && `It joins ${wires.map(({ output, input }) => `${output} → ${input}`).join(', ')}.`
		return [kept('link', [link, joins, app.live.readOnly], () => h('div', {}, h('h2', {}, `${from} → ${to}`, h('small', {}, ` ${kind}`)),
			h('ul', {}, linkRow(app, link, kind === 'audio' ? 'Gain' : '')), joins && h('p', { class: 'quiet' }, joins),
			app.live.may('owner') && h('div', { class: 'row' }, button('Put a node between', inserts))))]
	}

	return {
		event: own.event,
		/** Shows a node, a link, or nothing. What has not changed stays as it is, so it keeps the focus. */
		show(chosen, types) {
			shown = chosen
			box.hidden = !chosen
			find('graph').classList.toggle('inspecting', !!chosen)
			if (!chosen) return
			box.setAttribute('aria-label', chosen.node ? `Node ${chosen.node.name}` : `Link from ${chosen.link.from} to ${chosen.link.to}`)
			const had = box.contains(document.activeElement)
			fill(box, [head, ...(chosen.node ? node(chosen, types) : link(chosen))].filter(Boolean))
			if (had && !box.contains(document.activeElement)) close.focus({ preventScroll: true })
		},
		/** Takes the focus of who chose something by keys. */
		focus: () => close.focus(),
		/** Tells what the node does now. */
		levels(loads) {
			const name = shown?.node?.name ?? shown?.link.wires[0]?.from
			if (!name) return
			const peak = app.output(name)?.[0]
			const isSound = shown.node ? shown.node.ports.some(({ kind }) => kind === 'audio') : shown.link.kind === 'audio'
			const level = peak > 0.001 ? `${(20 * Math.log10(peak)).toFixed(1)} dBFS` : peak === undefined ? 'level not known' : 'silent'
			const load = shown.node && loads[name] !== undefined && `${(100 * loads[name]).toFixed(1)} % of a block`
			const text = [isSound && level, load].filter(Boolean).join(', ')
			if (state.textContent !== text) state.textContent = text
		},
	}
}
