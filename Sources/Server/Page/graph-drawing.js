// SPDX-License-Identifier: Apache-2.0
// The graph as `voicegraph graph` draws it, with what its nodes do now. What has not changed stays as it is.
import { fill, h } from './dom.js'
import { typeText } from './nodes.js'

const calm = matchMedia('(prefers-reduced-motion: reduce)')
/** Below it a node is silent, in dBFS. */
const silence = -60
/** Differences of places, without what floating point adds. */
const px = length => Number(length.toFixed(2))
const decibels = level => 20 * Math.log10(level)
const text = (name, x, y, words, anchor) => h('svg:text', { class: name, x, y, 'text-anchor': anchor }, words)
const signed = gain => `${gain > 0 ? '+' : ''}${Number(gain.toFixed(1))} dB`
/** A gain in words; nothing where it changes nothing. */
const gainText = gain => (gain > 0 ? Math.abs(decibels(gain)) < 0.05 ? '' : signed(decibels(gain)) : 'silent')
/** What is drawn of a link, by name. */
export const wireName = ({ from, output, to, input }) => `${from}.${output} → ${to}.${input}`

/** Gives what was made under a name again, until what it was made of has changed. */
export function keeper() {
	const made = new Map()
	return (name, sign, make) => {
		const sealed = JSON.stringify(sign)
		if (made.get(name)?.sealed !== sealed) made.set(name, { one: make(), sealed })
		return made.get(name).one
	}
}

/** Badges stand on the upper edge, from the right. */
function badges(words, width) {
	let right = width - 8
	return words.map(word => {
		const wide = word.length * 6.6 + 14
		const at = right
		right -= wide + 4
		return h('svg:g', { class: 'badge ' + word, transform: `translate(${at} 5)` }, h('svg:g', {},
			h('svg:rect', { x: -wide, y: -18, width: wide, height: 18, rx: 9 }), text('', -wide / 2, -5, word, 'middle')))
	})
}

function port({ name, kind, x, y }, place, isInput) {
	const side = isInput ? 1 : -1
	return h('svg:g', { class: `port ${kind}`, transform: `translate(${x - place.x} ${y - place.y})`,
		'data-end': `${place.name}.${name}`, 'data-kind': kind, 'data-input': isInput },
	h('svg:title', {}, `${place.name}.${name}: ${kind}`), h('svg:circle', { class: 'hit', r: 12 }), h('svg:circle', { r: 4.5 }),
	text('', 10 * side, 4, name, isInput ? 'start' : 'end'))
}

/** A box. `states`: what is done to the node, or wrong with it. */
function node(place, states) {
	const { name, width, height, inputs, outputs, failure } = place
	const [left, right, low] = [12, width - 12, height - 13]
	const track = h('svg:rect', { class: 'track', x: left, y: height - 8, width: right - left, height: 4, rx: 2 })
	const level = h('svg:rect', { class: 'level', x: left, y: height - 8, width: 0, height: 4, rx: 2 })
	const [number, load] = [text('number', left, low, '', 'start'), text('number', right, low, '', 'end')]
	const words = [name, typeText(place), ...states].join(', ')
	// From far away the name alone is read, as large as the box lets it.
	const title = text('name', width / 2, 20, name, 'middle')
	title.style.setProperty('--most', `${Math.min(height / 3, (width - 12) / (0.62 * name.length))}px`)
	const element = h('svg:g', { class: ['node', ...states].join(' '), role: 'button', tabindex: -1, 'aria-label': words,
		'aria-pressed': 'false', 'data-node': name },
	h('svg:title', {}, failure ? `${words}: ${failure}` : words),
	h('svg:rect', { class: 'box', width, height, rx: 10 }), title, text('type', width / 2, 36, typeText(place), 'middle'),
	...inputs.map(input => port(input, place, true)), ...outputs.map(output => port(output, place, false)),
	track, level, number, load,
	...badges(states, width))
	const shown = {}
	const set = (key, value, change) => shown[key] === value || change(shown[key] = value)
	return {
		element,
		/** The loudest sample that it gives away, linear, and its share of a block; undefined: not known. */
		tell(peak, share) {
			const loud = decibels(peak)
			const part = Math.max(0, Math.min(1, 1 - loud / silence)) || 0
			set('known', peak !== undefined, isKnown => element.classList.toggle('known', isKnown))
			set('width', Math.round(part * (right - left)), width => level.setAttribute('width', width))
			set('zone', loud >= -1 ? 'hot' : loud >= -9 ? 'warm' : '', zone => level.setAttribute('class', `level ${zone}`))
			set('number', peak === undefined ? '' : loud > silence ? `${Math.round(loud)} dB` : 'silent', text => (number.textContent = text))
			set('load', share === undefined ? '' : `${(100 * share).toFixed(1)} %`, text => (load.textContent = text))
		},
	}
}

function link(wire, index) {
	const { kind, path, gain } = wire
	const words = gainText(gain)
	const line = h('svg:path', { class: 'wire', d: path })
	const label = words && text('gain', 0, 0, words, 'middle')
	const element = h('svg:g', { class: `link ${kind}`, 'data-link': index },
		h('svg:title', {}, wireName(wire)), h('svg:path', { class: 'hit', d: path }), line, label)
	if (label) {
		const { x, y } = line.getPointAtLength(line.getTotalLength() / 2)
		label.setAttribute('x', x)
		label.setAttribute('y', y - 6)
	}
	let [level, state] = []
	return {
		element,
		/** What flows there, linear; undefined: not known. */
		tell(peak) {
			const next = peak === undefined ? 'unmeasured' : decibels(peak) > silence ? '' : 'silent'
			if (state !== (state = next)) for (const name of ['unmeasured', 'silent']) element.classList.toggle(name, name === state)
			const part = state ? 0 : Math.round(20 * Math.min(1, 1 - decibels(peak) / silence)) / 20
			if (part !== level) line.style.setProperty('--level', level = part)
		},
	}
}

/** Draws into a group. */
export function drawing(app, world) {
	const [lines, boxes] = ['links', 'nodes'].map(name => h('svg:g', { class: name }))
	const kept = keeper()
	let [nodes, links, drawnAt] = [[], [], 0]
	world.append(lines, boxes)

	function states({ name, failure }) {
		const { mute, bypass } = app.parts.node(name) ?? {}
		return [failure && 'failed', mute && 'muted', bypass && 'bypassed'].filter(Boolean)
	}

	return {
		get nodes() {
			return nodes
		},
		get links() {
			return links
		},
		/** Draws what the host tells of places. */
		draw(layout) {
			nodes = layout.nodes.map(place => {
				const { x, y } = place
				const shape = { ...place, x: 0, y: 0 }
				for (const side of ['inputs', 'outputs']) shape[side] = place[side].map(port => ({ ...port, x: px(port.x - x), y: px(port.y - y) }))
				const one = kept('node ' + place.name, [shape, states(place)], () => node(shape, states(place)))
				one.element.setAttribute('transform', `translate(${x} ${y})`)
				return { ...place, tell: one.tell, element: one.element }
			})
			links = layout.links.map((wire, i) => ({ ...wire, ...kept('link ' + wireName(wire), [i, wire], () => link(wire, i)) }))
			fill(lines, links.map(({ element }) => element))
			fill(boxes, nodes.map(({ element }) => element))
			drawnAt = 0
		},
		/** Tells what the nodes do now; `loads`: the share of a block of each. */
		levels(loads) {
			const now = performance.now()
			if (now - drawnAt < (calm.matches ? 250 : 80)) return
			drawnAt = now
			const peaks = new Map(nodes.map(({ name }) => [name, app.output(name)?.[0]]))
			for (const { name, tell } of nodes) tell(peaks.get(name), loads[name])
			for (const { from, kind, gain, tell } of links) if (kind === 'audio') tell(peaks.get(from) && gain * peaks.get(from))
		},
	}
}
