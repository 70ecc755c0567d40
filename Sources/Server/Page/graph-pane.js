// SPDX-License-Identifier: Apache-2.0
// What of a drawing is seen: moved, zoomed and fitted, with a small map of a large one.
import { h } from './dom.js'

/** Below it names alone are shown, larger than they are drawn. */
const far = 0.7
/** How large text is read then, in pixels. */
const readable = 11.5
const largest = 3
/** A drawing that is smaller than its pane grows to this at first. */
const roomy = 1.25
/** From so many nodes on there is a map. */
const mapped = 25
/** Pixels of a step by keys, and of a press that is none any more. */
const [step, still] = [60, 4]
const clamp = (low, value, high) => Math.max(low, Math.min(high, value))

/** Shows `world`, a group in `svg`. `pulls(event)` is asked first of each press, and takes it if it is true. */
export function pane(svg, world, pulls) {
	const [map, frame] = [h('svg:svg', { class: 'map', 'aria-hidden': 'true' }), h('svg:rect', { class: 'frame' })]
	const size = { width: 1, height: 1 }
	const view = { x: 0, y: 0, scale: 1 }
	const pressed = new Map()
	let [isTouched, isAsked, isMoved, isMapped, before] = [false, false, false, false]

	const box = () => svg.getBoundingClientRect()
	const whole = () => Math.min(svg.clientWidth / size.width, svg.clientHeight / size.height)

	/** Where the drawing goes: in the middle if it fits, and never out of sight. */
	function place(scale, x, y) {
		view.scale = clamp(Math.min(1, whole()) * 0.8, scale, largest)
		for (const [axis, seen, length] of [['x', svg.clientWidth, size.width], ['y', svg.clientHeight, size.height]]) {
			const drawn = length * view.scale
			const at = axis === 'x' ? x : y
			view[axis] = drawn <= seen ? clamp(0, at, seen - drawn) : clamp(seen * 0.6 - drawn, at, seen * 0.4)
		}
		if (isAsked) return
		isAsked = true
		requestAnimationFrame(paint)
	}

	function paint() {
		isAsked = false
		const { x, y, scale } = view
		world.setAttribute('transform', `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${scale.toFixed(4)})`)
		world.classList.toggle('far', scale < far)
		world.style.setProperty('--far', `${readable / scale}px`)
		world.style.setProperty('--grow', clamp(1, 0.9 / scale, 2.2))
		// Where all is in sight, a map tells nothing.
		map.toggleAttribute('hidden', !isMapped || scale <= whole() + 1e-6)
		for (const [key, value] of Object.entries({ x: -x / scale, y: -y / scale, width: svg.clientWidth / scale,
			height: svg.clientHeight / scale })) frame.setAttribute(key, value)
	}

	const middle = scale => place(scale, (svg.clientWidth - size.width * scale) / 2, (svg.clientHeight - size.height * scale) / 2)

	/** As it is at first: whole where that can be read, else its beginning. */
	function begin() {
		const scale = clamp(1, whole(), roomy)
		const [x, y] = [[svg.clientWidth, size.width], [svg.clientHeight, size.height]]
			.map(([seen, length]) => Math.max(0, (seen - length * scale) / 2))
		place(scale, x, y)
	}

	function zoom(by, x = svg.clientWidth / 2, y = svg.clientHeight / 2) {
		isTouched = true
		const scale = clamp(Math.min(1, whole()) * 0.8, view.scale * by, largest)
		const share = scale / view.scale
		place(scale, x - (x - view.x) * share, y - (y - view.y) * share)
	}

	function pan(x, y) {
		isTouched = true
		place(view.scale, view.x + x, view.y + y)
	}

	function fit() {
		isTouched = true
		middle(Math.min(roomy, whole()))
	}

	/** Moves as little as shows a part of the drawing. */
	function reveal({ x, y, width, height }) {
		const { scale } = view
		const move = (from, length, seen) => from < 12 ? 12 - from : Math.min(0, seen - 12 - from - length)
		const [right, down] = [move(x * scale + view.x, width * scale, svg.clientWidth), move(y * scale + view.y, height * scale, svg.clientHeight)]
		if (right || down) pan(right, down)
	}

	svg.addEventListener('wheel', event => {
		event.preventDefault()
		const { left, top } = box()
		// Trackpads tell a pinch as a wheel with Ctrl, in small steps.
		const steps = event.deltaMode ? event.deltaY * 16 : event.deltaY
		if (!event.ctrlKey && Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan(-event.deltaX, 0)
		else zoom(Math.exp(-clamp(-60, steps, 60) * (event.ctrlKey ? 0.01 : 0.004)), event.clientX - left, event.clientY - top)
	}, { passive: false })

	/** The middle of what is pressed, and how far two fingers are apart. */
	function hands() {
		const [a, b = a] = [...pressed.values()]
		const { left, top } = box()
		return { x: (a.x + b.x) / 2 - left, y: (a.y + b.y) / 2 - top, apart: Math.hypot(a.x - b.x, a.y - b.y) }
	}

	svg.onpointerdown = event => {
		if (event.button || (!pressed.size && pulls(event))) return
		if (!pressed.size) isMoved = false
		pressed.set(event.pointerId, { x: event.clientX, y: event.clientY })
		before = hands()
	}
	svg.onpointermove = event => {
		if (!pressed.has(event.pointerId)) return
		pressed.set(event.pointerId, { x: event.clientX, y: event.clientY })
		const now = hands()
		if (!isMoved && pressed.size < 2 && Math.hypot(now.x - before.x, now.y - before.y) < still) return
		isMoved = true
		svg.setPointerCapture(event.pointerId)
		pan(now.x - before.x, now.y - before.y)
		if (before.apart && now.apart) zoom(now.apart / before.apart, now.x, now.y)
		before = now
	}
	svg.onpointerup = svg.onpointercancel = ({ pointerId }) => {
		pressed.delete(pointerId)
		if (pressed.size) before = hands()
	}
	// What was moved was not clicked.
	svg.addEventListener('click', event => isMoved && (event.stopImmediatePropagation(), isMoved = false), true)
	svg.addEventListener('keydown', event => {
		if (event.ctrlKey || event.metaKey || event.altKey) return
		const moves = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] }
		const { key } = event
		if (key === '+' || key === '=') zoom(1.25)
		else if (key === '-') zoom(0.8)
		else if (key === '0') fit()
		else if (moves[key] && event.target === svg) pan(...moves[key])
		else return
		event.preventDefault()
	})

	const jump = ({ buttons, offsetX, offsetY }) => {
		if (!buttons) return
		const share = Math.max(size.width / map.clientWidth, size.height / map.clientHeight)
		const [x, y] = [[offsetX, map.clientWidth, size.width], [offsetY, map.clientHeight, size.height]]
			.map(([at, seen, length]) => (at - (seen - length / share) / 2) * share)
		isTouched = true
		place(view.scale, svg.clientWidth / 2 - x * view.scale, svg.clientHeight / 2 - y * view.scale)
	}
	map.onpointerdown = event => {
		map.setPointerCapture(event.pointerId)
		jump(event)
	}
	map.onpointermove = jump

	new ResizeObserver(() => {
		if (!svg.clientWidth) return
		if (isTouched) place(view.scale, view.x, view.y)
		else begin()
	}).observe(svg)

	return {
		map, zoom, fit, reveal,
		/** Takes a drawing of this size, with these boxes. What is seen of it stays, once somebody has chosen that. */
		show(width, height, boxes) {
			Object.assign(size, { width, height })
			svg.style.setProperty('--drawn', `${Math.round(height * clamp(1, svg.clientWidth / width, roomy))}px`)
			map.setAttribute('viewBox', `0 0 ${width} ${height}`)
			isMapped = boxes.length >= mapped
			map.replaceChildren(...boxes.map(({ x, y, width, height }) => h('svg:rect', { x, y, width, height, rx: 10 })), frame)
			if (isTouched) place(view.scale, view.x, view.y)
			else begin()
		},
		/** Where a place of the screen is in the drawing. */
		at({ clientX, clientY }) {
			const { left, top } = box()
			return [(clientX - left - view.x) / view.scale, (clientY - top - view.y) / view.scale]
		},
	}
}
