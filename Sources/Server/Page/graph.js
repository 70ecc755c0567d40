// SPDX-License-Identifier: Apache-2.0
// The graph, drawn live, and what can be changed of it.
import { download, h } from './dom.js'
import { adding } from './graph-adding.js'
import { drawing } from './graph-drawing.js'
import { inspector } from './graph-inspector.js'
import { linkRow, linksOf, same, unlink, written } from './graph-links.js'
import { pane } from './graph-pane.js'
import { wiring } from './graph-wiring.js'
import { field, valuesOf } from './nodes.js'

/** Milliseconds between looks at what nodes take of a block. */
const beat = 2000

export function graph(app) {
	const { live, find } = app
	const [view, form] = ['graph', 'link'].map(find)
	const world = h('svg:g')
	const svg = h('svg:svg', { class: 'pane', tabindex: 0, role: 'group' }, world)
	const drawn = drawing(app, world)
	const seen = pane(svg, world, event => pulls(event))
	const pulls = wiring(app, svg, world, seen.at, byName)
	const shown = inspector(app, { closes: () => choose(), inserts: () => added?.focus() })
	const legend = h('p', { class: 'legend quiet' })
	const [from, to] = ['from', 'to'].map(key => field({ key, kind: 'text', choices: [''], required: true }))
	const tool = (text, label, onclick) => h('button', { type: 'button', 'aria-label': label, title: label, onclick }, text)
	/** The name of a node, or a link as it is written. */
	let chosen
	/** The box that had the focus last. */
	let lastFocus
	let [added, types, loads, timer] = [undefined, undefined, {}]

	find('drawing').append(h('div', { class: 'stage' }, svg, seen.map), h('div', { class: 'foot' }, legend, h('div', { class: 'tools' },
		tool('−', 'Zoom out', () => seen.zoom(0.8)), tool('+', 'Zoom in', () => seen.zoom(1.25)), tool('Fit', 'Fit the drawing', seen.fit))))
	form.append(from, to, field({ key: 'gain_db', kind: 'number', default: '0', unit: 'dB' }), h('button', { class: 'main' }, 'Link'))

	/** What is chosen, as it is now; nothing, if it is gone. */
	function current() {
		if (typeof chosen === 'string') {
			const node = app.parts.node(chosen)
			return node && { node }
		}
		const link = linksOf(app.parts).find(link => same(link, chosen))
		return link && { link }
	}

	const place = node => drawn.nodes.find(({ name }) => name === node)

	function choose(what, isByKeys) {
		const before = chosen
		chosen = what
		mark()
		if (isByKeys && what) shown.focus()
		else if (!what) (place(before)?.element ?? svg).focus()
		// What opens beside it makes the pane smaller.
		if (place(what)) requestAnimationFrame(() => place(what) && seen.reveal(place(what)))
	}

	/** Shows what is chosen, in the drawing and beside it. */
	function mark() {
		const now = current()
		if (!now) chosen = undefined
		for (const { name, element } of drawn.nodes) element.ariaPressed = String(name === chosen)
		for (const wire of drawn.links) wire.element.classList.toggle('chosen', same(written(app.parts, wire), now?.link))
		shown.show(now, types)
		added?.show(app.parts.links, now?.link)
	}

	async function draw() {
		const layout = await live.call('layout')
		drawn.draw(layout)
		const { width, height, nodes, links } = layout
		seen.show(width, height, nodes)
		svg.setAttribute('aria-label', `Drawing of ${nodes.length} nodes and ${links.length} links: arrow keys move it, plus, minus and 0 zoom`)
		const kinds = new Set([...links, ...nodes.flatMap(({ inputs, outputs }) => [...inputs, ...outputs])].map(({ kind }) => kind))
		legend.replaceChildren(...[...kinds, 'unmeasured'].map(kind => h('span', {}, h('svg:svg', { viewBox: '0 0 28 8', 'aria-hidden': 'true' },
			h('svg:g', { class: kind === 'unmeasured' ? 'link audio unmeasured' : `link ${kind}` }, h('svg:path', { class: 'wire', d: 'M1 4H27' }))),
		kind === 'unmeasured' ? 'level not known' : kind)))
		// One box is reached by the tabulator, the others from there by arrows.
		const stop = place(lastFocus) ? lastFocus : nodes[0]?.name
		for (const { name, element } of drawn.nodes) element.tabIndex = name === stop ? 0 : -1
		mark()
	}

	svg.addEventListener('focusin', ({ target }) => {
		const { node } = target.dataset
		if (!node) return
		lastFocus = node
		for (const { name, element } of drawn.nodes) element.tabIndex = name === node ? 0 : -1
		if (target.matches(':focus-visible')) seen.reveal(place(node))
	})

	/** Moves the focus to the nearest box that way. */
	function go(node, [right, down]) {
		const middle = ({ x, y, width, height }) => [x + width / 2, y + height / 2]
		const [x, y] = middle(place(node))
		const ways = drawn.nodes.map(other => {
			const [dx, dy] = [middle(other)[0] - x, middle(other)[1] - y]
			const along = dx * right + dy * down
			return { other, along, cost: along + 2 * Math.abs(dx * down + dy * right) }
		}).filter(({ along }) => along > 1).sort((a, b) => a.cost - b.cost)
		ways[0]?.other.element.focus()
	}

	svg.onclick = ({ target }) => {
		const node = target.closest('.node')?.dataset.node
		const wire = drawn.links[target.closest('.link')?.dataset.link]
		if (node) choose(node)
		else if (wire) choose(written(app.parts, wire))
	}
	// A type that is dropped on a link goes into it, and elsewhere stands by itself.
	let under
	function over(link) {
		if (link === under) return
		under?.classList.remove('over')
		under = link
		under?.classList.add('over')
	}
	svg.ondragover = event => {
		if (!added?.isDragged) return
		event.preventDefault()
		over(event.target.closest('.link'))
	}
	svg.ondragleave = () => over()
	svg.ondrop = event => {
		if (!added?.isDragged) return
		event.preventDefault()
		const wire = drawn.links[under?.dataset.link]
		over()
		added.drop(wire && written(app.parts, wire))
	}
	const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }
	view.onkeydown = event => {
		const { key, target } = event
		const { node } = target.dataset
		if (key === 'Escape' && chosen) choose()
		else if (key === 'Delete' && chosen?.from && live.may('owner') && !target.matches('input, select')) unlink(app, chosen)
		else if (node && (key === 'Enter' || key === ' ')) choose(node, true)
		else if (node && arrows[key]) go(node, arrows[key])
		else return
		event.preventDefault()
	}

	async function fill() {
		const { nodes } = app.parts
		const ends = isInput => nodes.flatMap(({ name, ports, parameters }) => [
			...ports.filter(({ input }) => input === isInput).map(({ symbol }) => `${name}.${symbol}`),
			...(isInput ? parameters.map(({ key }) => `${name}.${key}`) : [])])
		for (const { lastChild: select } of [from, to]) {
			const { value } = select
			const names = ends(select.name === 'to')
			select.replaceChildren(...names.map(name => h('option', {}, name)))
			if (names.includes(value)) select.value = value
		}
		find('links').replaceChildren(...linksOf(app.parts).map(link => linkRow(app, link)))
		if (!added) {
			;({ types } = await live.call('types'))
			added = adding(app, types)
		}
		mark()
		for (const input of [...form.elements, ...find('add').elements, find('undo'), find('redo'), find('save-states')]) input.disabled = !live.may('owner')
	}

	/** Offers what a control output can turn: parameters have no ports in the drawing. */
	function byName(output, node) {
		find('by-name').open = true
		from.lastChild.value = output
		to.lastChild.value = [...to.lastChild.options].find(({ value }) => app.parts.node(node).parameters.some(({ key }) => value === `${node}.${key}`)).value
		to.lastChild.focus()
	}

	find('undo').onclick = app.undo
	find('redo').onclick = app.redo
	const does = (id, name, text) => (find(id).onclick = () => app.does(name, {}, text))
	does('save-states', 'save', ({ saved }) => `Saved: ${saved.join(', ') || 'nothing; no node has state = "FOLDER"'}`)
	does('save-graph', 'file', ({ text, path = `${app.parts.graph}.conf` }) => {
		const href = URL.createObjectURL(new Blob([text], { type: 'application/toml' }))
		const name = path.replace(/.*\//, '')
		download(href, name)
		URL.revokeObjectURL(href)
		return `Downloaded: ${name}`
	})
	form.onsubmit = event => {
		event.preventDefault()
		const { from, to, gain_db } = valuesOf(form)
		app.does('link', { link: `${from} -> ${to}`, gain_db }, () => `Linked: ${from} to ${to}`)
	}

	async function show() {
		const mayEdit = live.has('owner')
		for (const panel of [find('edits'), find('add').parentElement, find('by-name')]) panel.hidden = !mayEdit
		await draw()
		if (mayEdit) await fill()
	}

	/** What each node takes of a block, as a share. */
	async function look() {
		const { timings } = await live.call('timings')
		const { rate, block } = live.last('', 'status') ?? {}
		if (block) loads = Object.fromEntries(Object.entries(timings).map(([name, times]) => [name, times.recent_average_us * rate / block / 1e6]))
	}

	return {
		changed: () => view.hidden || show().catch(app.tell),
		event: shown.event,
		enter() {
			show().catch(app.tell)
			live.ask('graph', ['output'])
			const again = () => look().catch(() => {})
			again()
			timer = setInterval(again, beat)
		},
		leave() {
			live.ask('graph', [])
			clearInterval(timer)
		},
		levels() {
			drawn.levels(loads)
			shown.levels(loads)
		},
	}
}
