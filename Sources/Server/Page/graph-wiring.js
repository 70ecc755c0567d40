// SPDX-License-Identifier: Apache-2.0
// Links that are pulled from port to port.
import { h } from './dom.js'

/** Pulls links in `world`. `at` gives the place of an event there; `choose(output, node)` offers what a control can turn. */
export function wiring(app, svg, world, at, choose) {
	const line = h('svg:path', { class: 'pulled' })
	const why = h('svg:text', { class: 'why', 'text-anchor': 'middle' })
	const of = element => {
		const { end, kind, input } = element.dataset
		return { element, end, kind, isInput: input !== undefined, node: element.closest('.node').dataset.node }
	}
	const ports = () => [...world.querySelectorAll('.port')].map(of)
	let start

	/** Why two ports cannot be linked; nothing: they can. */
	function refusal(one, other) {
		if (one.isInput === other.isInput) return `both are ${one.isInput ? 'inputs' : 'outputs'}`
		if (one.kind === other.kind) return ''
		const [from, to] = one.isInput ? [other, one] : [one, other]
		return `${from.kind} does not go into ${to.kind}`
	}

	/** What is under the pointer: where the link would end, or why it cannot. */
	function target({ clientX, clientY }) {
		const under = document.elementFromPoint(clientX, clientY)
		const box = under?.closest('#drawing .node')
		if (!box) return {}
		const over = under.closest('.port')
		if (over && over !== start.element) return { end: over.dataset.end, element: over, why: refusal(start, of(over)) }
		const name = box.dataset.node
		if (name === start.node) return {}
		// A box stands for its only port that fits, or for all of them: the host pairs channels.
		const fitting = ports().filter(port => port.node === name && !refusal(start, port))
		if (fitting.length) return { end: fitting.length === 1 ? fitting[0].end : name, element: box, why: '' }
		const turns = start.kind === 'control' && !start.isInput && app.parts.node(name)?.parameters.length
		return turns ? { node: name, element: box, why: '' } : { end: name, element: box, why: `nothing of ${name} fits ${start.end}` }
	}

	function move(event) {
		const [x, y] = at(event)
		const bend = Math.max(40, Math.abs(x - start.x) / 2) * (start.isInput ? -1 : 1)
		const found = target(event)
		line.setAttribute('d', `M${start.x} ${start.y}C${start.x + bend} ${start.y} ${x - bend} ${y} ${x} ${y}`)
		line.setAttribute('class', `pulled ${start.kind} ${found.why ? 'refused' : ''}`)
		why.textContent = found.why ?? ''
		why.setAttribute('x', x)
		why.setAttribute('y', y - 14)
		if (start.over === found.element) return
		start.over?.classList.remove('over')
		start.over = found.element
		if (!found.why) start.over?.classList.add('over')
	}

	function drop(event) {
		const { end, node, why } = target(event)
		const { end: own, isInput } = start
		stop()
		if (why) return app.tell({ message: `${own} and ${end} cannot be linked`, hint: why[0].toUpperCase() + why.slice(1) })
		if (node) return choose(own, node)
		if (!end) return
		const [from, to] = isInput ? [end, own] : [own, end]
		app.does('link', { link: `${from} -> ${to}` }, () => `Linked: ${from} to ${to}`)
	}

	function stop() {
		for (const element of world.querySelectorAll('.fits, .over')) element.classList.remove('fits', 'over')
		world.classList.remove('pulling')
		for (const part of [line, why]) part.remove()
		svg.removeEventListener('pointermove', move)
		removeEventListener('keydown', escape, true)
		start = undefined
	}

	function escape(event) {
		if (event.key !== 'Escape') return
		event.stopPropagation()
		stop()
	}

	svg.addEventListener('pointerup', event => start?.pointer === event.pointerId && drop(event))
	svg.addEventListener('pointercancel', event => start?.pointer === event.pointerId && stop())

	/** Begins at a port, if one is pressed by somebody who may link. */
	return event => {
		const pressed = event.target.closest('.port')
		if (!pressed || start || !app.live.may('owner')) return false
		const { left, top, width, height } = pressed.lastChild.previousSibling.getBoundingClientRect()
		const [x, y] = at({ clientX: left + width / 2, clientY: top + height / 2 })
		start = { ...of(pressed), x, y, pointer: event.pointerId }
		for (const port of ports()) if (port.node !== start.node && !refusal(start, port)) port.element.classList.add('fits')
		world.classList.add('pulling')
		world.append(line, why)
		svg.setPointerCapture(event.pointerId)
		svg.addEventListener('pointermove', move)
		addEventListener('keydown', escape, true)
		move(event)
		return true
	}
}
