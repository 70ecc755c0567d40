// SPDX-License-Identifier: Apache-2.0
// New nodes: types by what they are for, found by a word, and put into a link that is chosen or that they are dropped on.
import { h } from './dom.js'
import { field, valuesOf } from './nodes.js'

const groups = ['Sources', 'Effects', 'Outputs', 'Meters and recorders', 'Speech and text', 'Control and MIDI']

/** What a type is for, by what it declares. */
function groupOf({ ports, roles, parameters, series, events }) {
	const count = (kind, way) => ports.filter(port => port.kind === kind && port.direction === way).length
	const [ins, outs] = ['in', 'out'].map(way => count('audio', way))
	const is = (...wanted) => roles.some(role => wanted.includes(role))
	const listens = ins && count('control', 'out') && events.length
	if (listens || is('speaks', 'transcribes', 'converses') || ports.some(({ kind }) => kind === 'message')) return 'Speech and text'
	if (is('records', 'shows') || (ins === 1 && outs === 1 && !parameters.length && series.length + events.length)) return 'Meters and recorders'
	if (!outs && ports.some(({ kind, direction }) => kind === 'midi' || (kind === 'control' && direction === 'out'))) return 'Control and MIDI'
	if (ins && !outs) return 'Outputs'
	return outs && !ins ? 'Sources' : 'Effects'
}

/** The form for a new node. `types` are those that there are. */
export function adding(app, types) {
	const form = app.find('add')
	const grouped = groups.map(label => [label, types.filter(type => groupOf(type) === label)])
	const search = h('input', { type: 'search', 'aria-label': 'Search types', placeholder: 'Search: volume, voice, MIDI' })
	const list = h('select', { name: 'type', size: 8, required: true, 'data-kind': 'text', 'aria-label': 'type' })
	const settings = h('div')
	const nameField = field({ key: 'name', kind: 'text', required: true })
	const name = nameField.lastChild
	const place = h('select', { 'aria-label': 'Put it into' })
	/** Lists cannot be dragged. By keys there is `into`. */
	const grip = h('p', { class: 'grip', draggable: 'true', 'aria-hidden': 'true', ondragstart({ dataTransfer }) {
		dataTransfer.setData('text/plain', list.value)
		dataTransfer.effectAllowed = 'copy'
		isDragged = true
	}, ondragend: () => (isDragged = false) })
	let isDragged = false
	/** What was proposed as a name. */
	let proposed = ''

	const value = link => `${link.from} -> ${link.to}`

	function propose() {
		if (name.value !== proposed) return
		const taken = new Set(app.parts.nodes.map(({ name }) => name))
		let number = 1
		do proposed = list.value + (number > 1 ? number : '')
		while (list.value && taken.has(proposed) && number++)
		name.value = proposed
	}

	function choose() {
		const type = types.find(({ name }) => name === list.value)
		const fields = isNeeded => type.settings.filter(({ required }) => required === isNeeded).map(field)
		settings.replaceChildren(...(type ? [h('p', { class: 'quiet' }, type.summary), ...fields(true),
			type.settings.some(({ required }) => !required) ? h('details', {}, h('summary', {}, 'Settings'), ...fields(false)) : ''] : []))
		grip.textContent = `Drag ${list.value} onto a link`
		grip.hidden = !type
		propose()
	}

	function filter() {
		const word = search.value.trim().toLowerCase()
		const { value } = list
		const fits = ({ name, summary, other_names: others = [] }) => [name, summary, ...others].some(text => text.toLowerCase().includes(word))
		list.replaceChildren(...grouped.map(([label, all]) => [label, all.filter(fits)]).filter(([, all]) => all.length).map(([label, all]) =>
			h('optgroup', { label }, ...all.map(({ name, summary }) => h('option', { value: name, title: summary }, name)))))
		list.value = value
		// Who searches for a name means it; else the first that fits is chosen.
		if (word) list.value = [...list.options].find(option => option.value === word)?.value ?? list.options[0]?.value ?? ''
		else if (!list.value) list.selectedIndex = 0
		choose()
	}

	search.oninput = filter
	search.onkeydown = event => {
		if (event.key !== 'ArrowDown') return
		event.preventDefault()
		list.focus()
	}
	list.onchange = choose
	form.replaceChildren(search, grip, list, settings, h('div', { class: 'pair' }, nameField, h('label', { class: 'field' }, 'into', place)),
		h('div', { class: 'row' }, h('button', { class: 'main' }, 'Add')))
	form.onsubmit = async event => {
		event.preventDefault()
		const node = valuesOf(form)
		const into = place.value || undefined
		const done = await app.does('add', { node, into }, () => `Added: ${node.name}${into ? ` into ${into}` : ''}`)
		if (!done) return
		name.value = proposed = ''
		propose()
	}
	filter()
	return {
		get isDragged() {
			return isDragged
		},
		/** Adds what was dragged, into a link if there is one. */
		drop(link) {
			place.value = link ? value(link) : ''
			form.requestSubmit()
		},
		/** Offers the links that there are; `chosen` is where the node goes. */
		show(links, chosen) {
			place.replaceChildren(h('option', { value: '' }, 'no link: link it later'),
				...links.map(link => h('option', { value: value(link) }, `${link.from} → ${link.to}`)))
			place.value = chosen ? value(chosen) : ''
			propose()
		},
		focus() {
			form.scrollIntoView({ block: 'nearest' })
			search.focus()
		},
	}
}
