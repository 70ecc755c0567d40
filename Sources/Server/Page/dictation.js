// SPDX-License-Identifier: Apache-2.0
// What is dictated: begun and ended by one button, and kept where it is asked for.
import { h } from './dom.js'

/** Items of a text, at most: a node may listen for days. The oldest go, which is shown. */
const most = 1000

/** What one node hears; nothing of it is lost before it is kept or cleared. */
function panel(app, { name: node, kept }) {
	const { live } = app
	const told = app.parts.state(node, 'state', 'engine')
	const items = new Map()
	const state = h('span', { class: 'quiet', role: 'status' })
	const text = h('p', { class: 'heard', 'aria-label': 'What was dictated' })
	const toggle = h('button', { class: 'main', onclick: () => app.call('do', { node, action: 'toggle' }) })
	const save = h('button', { hidden: !!kept, async onclick() {
		const saved = await app.call('add_text', { text: whole() })
		if (!saved) return
		clear()
		state.textContent = `kept as text ${saved.item}`
	} }, 'Save')
	const discard = h('button', { onclick: () => clear() }, 'Clear')
	let now = 'idle'
	let isCut = false
	const whole = () => [...items.values()].map(({ text }) => text).filter(Boolean).join(' ')
	function clear() {
		items.clear()
		isCut = false
		show()
	}
	function show() {
		const may = live.may('operator')
		const isOn = now === 'listening' || now === 'hearing'
		const isOver = !isOn && now !== 'finishing'
		toggle.textContent = isOn ? 'Stop' : isOver ? 'Dictate' : 'Finishing…'
		toggle.disabled = !may || now === 'finishing'
		discard.disabled = !isOver || !items.size
		save.disabled = !may || !isOver || !whole()
		text.replaceChildren(isCut ? '… ' : '', ...[...items.values()].map(({ text, stage }) => h(stage === 'whole' ? 'span' : 'i', {}, text + ' ')))
	}
	function take(event) {
		const stage = app.parts.texts.get(node + ' ' + event.event)?.stage
		if (event.event === told) {
			now = event.state
			state.textContent = [now, event.reason].filter(Boolean).join(': ')
		} else if (stage === 'withdrawn' || (stage && !event.text)) items.delete(event.item)
		else if (stage) {
			items.set(event.item, { text: event.text, stage })
			if (items.size > most) isCut = items.delete(items.keys().next().value)
		}
		show()
	}
	take(live.last(node, told) ?? { event: told, state: now })
	return { node, kept, take, element: h('div', { class: 'dictation' }, h('div', { class: 'head' }, h('h2', {}, node), state),
		text, h('div', { class: 'row' }, toggle, save, discard)) }
}

export function dictation(app) {
	let panels = []
	return {
		changed({ dictating }) {
			const known = panels
			panels = dictating.map(one => known.find(({ node, kept }) => node === one.name && kept === one.kept) ?? panel(app, one))
			for (const one of panels) one.take({})
			app.find('dictations').replaceChildren(...panels.map(({ element }) => element))
		},
		event(event) {
			panels.find(({ node }) => node === event.node)?.take(event)
		},
	}
}
