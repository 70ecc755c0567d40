// SPDX-License-Identifier: Apache-2.0
// The graph, drawn live, and what can be changed of it.
import { download, h } from './dom.js'
import { field, valuesOf } from './nodes.js'

export function graph(app) {
	const { live, find } = app
	const [drawing, add, link] = ['drawing', 'add', 'link'].map(find)
	const choice = (key, choices) => field({ key, kind: 'text', choices, required: true })
	const [from, to] = ['from', 'to'].map(key => choice(key, ['']))
	let wires = []
	let drawnAt = 0
	link.append(from, to, field({ key: 'gain_db', kind: 'number', default: '0', unit: 'dB' }),
		h('button', { class: 'main' }, 'Link'))

	async function draw() {
		const { width, height, nodes, links } = await live.call('layout')
		const titled = (tag, given, title, ...more) => h(tag, given, h('svg:title', {}, title), ...more)
		const port = ({ name, kind, x, y }) => titled('svg:circle', { class: kind, cx: x, cy: y, r: 4.5 }, name)
		wires = links.map(({ from, output, to, input, kind, path }) => ({ from: kind === 'audio' && from,
			element: titled('svg:path', { class: kind, d: path }, `${from}.${output} → ${to}.${input}`) }))
		drawing.replaceChildren(h('svg:svg', { viewBox: `0 0 ${width} ${height}`, role: 'img',
			'aria-label': `${nodes.length} nodes, ${links.length} links` }, ...wires.map(({ element }) => element),
		...nodes.map(({ name, type, x, y, width, height, inputs, outputs, failure }) => {
			const isMuted = app.parts.node(name)?.mute
			return titled('svg:g', { class: failure ? 'failed' : isMuted && 'muted' },
			failure ?? (isMuted ? `${name}, muted` : name), h('svg:rect', { x, y, width, height, rx: 12 }), h('svg:text', { x: x + 12, y: y + 22 }, name),
			h('svg:text', { x: x + 12, y: y + 38 }, isMuted ? `${type}, muted` : type), ...inputs.map(port), ...outputs.map(port))
		})))
	}

	async function fill() {
		const { nodes, links } = app.parts
		const ends = isInput => nodes.flatMap(({ name, ports, parameters }) => [
			...ports.filter(({ input }) => input === isInput).map(({ symbol }) => `${name}.${symbol}`),
			...(isInput ? parameters.map(({ key }) => `${name}.${key}`) : [])])
		const button = (text, onclick, given) => h('button', { type: 'button', onclick, ...given }, text)
		for (const { lastChild: select } of [from, to]) {
			const { value } = select
			const names = ends(select.name === 'to')
			select.replaceChildren(...names.map(name => h('option', {}, name)))
			if (names.includes(value)) select.value = value
		}
		find('links').replaceChildren(...links.map(({ from, to, gain_db: gain }) => h('li', { class: 'head' },
			`${from} → ${to}`, h('label', { class: 'gain' }, h('input', { type: 'number', step: 0.5, value: gain,
				'aria-label': `Gain from ${from} to ${to} in dB`, onchange: ({ target }) => regain(target, `${from} -> ${to}`, gain) }), 'dB'),
			button('Unlink', () => app.does('unlink', { link: `${from} -> ${to}` }, () => `Unlinked: ${from} from ${to}`),
				{ 'aria-label': `Unlink ${from} from ${to}` }))))
		if (!add.firstChild) await fillAdd()
		for (const input of find('graph').querySelectorAll('button:not(#save-graph), input, select')) input.disabled = !live.may('owner')
	}

	async function fillAdd() {
		const { types } = await live.call('types')
		const type = choice('type', types.map(({ name }) => name))
		const settings = h('div')
		type.onchange = () => {
			const { summary, settings: all } = types.find(({ name }) => name === type.lastChild.value)
			const fields = isNeeded => all.filter(({ required }) => required === isNeeded).map(field)
			settings.replaceChildren(h('p', {}, summary), ...fields(true),
				h('details', {}, h('summary', {}, 'Settings'), ...fields(false)))
		}
		type.onchange()
		add.replaceChildren(type, field({ key: 'name', kind: 'text', required: true }), settings,
			h('div', { class: 'row' }, h('button', { class: 'main' }, 'Add')))
	}

	/** Gives a link another gain; what the host does not take is as it was. */
	async function regain(input, link, before) {
		const gain = input.valueAsNumber
		const done = gain !== before && (await app.does('link', { link, gain_db: gain }, () => `${link}: ${gain} dB`))
		if (!done) input.value = before
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

	add.onsubmit = event => {
		event.preventDefault()
		const node = valuesOf(add)
		const name = add.querySelector('[name=name]')
		app.does('add', { node }, () => `Added: ${node.name}`).then(done => done && name.isConnected && (name.value = ''))
	}
	link.onsubmit = event => {
		event.preventDefault()
		const { from, to, gain_db } = valuesOf(link)
		app.does('link', { link: `${from} -> ${to}`, gain_db }, () => `Linked: ${from} to ${to}`)
	}

	const show = () => {
		const mayEdit = live.has('owner')
		for (const panel of [find('edits'), add.parentElement, link.parentElement]) panel.hidden = !mayEdit
		return Promise.all([draw(), mayEdit && fill()]).catch(app.tell)
	}
	return {
		changed: () => find('graph').hidden || show(),
		enter() {
			show()
			live.ask('graph', ['output'])
		},
		leave: () => live.ask('graph', []),
		levels() {
			const now = performance.now()
			if (now - drawnAt < 250) return
			drawnAt = now
			for (const wire of wires) {
				const peak = app.output(wire.from)?.[0]
				wire.element.classList.toggle('unmeasured', !!wire.from && peak === undefined)
				const level = peak > 0.001 ? Math.round(20 * (1 + Math.log10(peak) / 3)) / 20 : 0
				if (level !== wire.level) wire.element.style.setProperty('--level', wire.level = level)
			}
		},
	}
}
