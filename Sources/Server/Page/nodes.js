// SPDX-License-Identifier: Apache-2.0
// Every node with what can be turned, set and done.
import { h } from './dom.js'
import { turner } from './parameters.js'

/** The type of a node, and what an LV2 plugin calls itself. */
export const typeText = ({ type, plugin }) => (plugin ? `${type}: ${plugin}` : type)

const isNumber = kind => kind === 'number' || kind === 'integer'

/** A labelled input for what a setting or an argument takes. */
export function field(setting) {
	const { key, kind, choices = [], doc, unit, required = false, value, default: usual } = setting
	const { minimum: min, maximum: max } = setting
	const given = { name: key, 'data-kind': kind, title: doc, required }
	const options = kind === 'boolean' ? ['true', 'false'] : choices
	const input = options.length
		? h('select', given, ...(required ? options : ['', ...options]).map(option => h('option', {}, option)))
		: h('input', { ...given, min, max, step: kind === 'integer' ? 1 : 'any', type: isNumber(kind) ? 'number' : 'text',
			placeholder: usual?.replaceAll('"', '') })
	if (value !== undefined) input.value = typeof value === 'object' ? JSON.stringify(value) : value
	return h('label', { class: 'field' }, unit ? `${key}, ${unit}` : key, input)
}

/** What an input says, as calls take it; undefined: nothing. */
function valueOf({ value, dataset: { kind } }) {
	if (value === '') return undefined
	if (isNumber(kind)) return Number(value)
	if (kind === 'text' || kind === 'file') return value
	try {
		return JSON.parse(value)
	} catch {
		return value
	}
}

/** What all inputs of a form say. */
export const valuesOf = form =>
	Object.fromEntries([...form.elements].filter(input => input.name).map(input => [input.name, valueOf(input)]))

/** Nodes with what can be turned, set and done: what is open or held in one that has not changed stays so. */
export function cards(app) {
	const { live } = app
	const made = new Map()

	function action(node, { name, doc, arguments: given }) {
		const output = h('output', { class: 'quiet' })
		const form = h('form', { class: given.length ? '' : 'row', onsubmit: async event => {
			event.preventDefault()
			const answer = await app.call('do', { node, action: name, arguments: valuesOf(form) })
			const results = Object.entries(answer?.results ?? {}).map(([key, value]) => `${key} ${JSON.stringify(value)}`)
			output.value = answer ? results.join(', ') || 'done' : ''
		} }, ...given.map(field), h('button', { title: doc }, name), output)
		return given.length ? h('details', {}, h('summary', { title: doc }, name), form) : form
	}

	function card(node, settings, actions) {
		const { name, degraded, parameters, no_bypass: noBypass } = node
		const toggles = (noBypass ? ['mute'] : ['bypass', 'mute']).map(call => {
			const turn = () => app.call(call, { node: name, on: button.ariaPressed !== 'true' })
			const button = h('button', { onclick: turn }, call)
			return button
		})
		const more = (text, list) => list.length && h('details', {}, h('summary', {}, text), ...list)
		const turners = parameters.map(parameter => turner(app, name, parameter))
		const fields = settings.map(setting => {
			const label = field(setting)
			label.lastChild.onchange = ({ target }) => target.reportValidity() &&
				app.call('set', { node: name, parameter: setting.key, value: valueOf(target) })
			return label
		})
		const element = h('article', { class: 'panel', 'aria-label': name },
			h('div', { class: 'head' }, h('h2', {}, name), h('small', {}, typeText(node))), degraded && h('p', { class: 'bad' }, degraded),
			...turners.map(({ element }) => element), more('Settings', fields),
			more('Actions', actions.map(given => action(name, given))),
			h('div', { class: 'row' }, ...toggles,
				app.button('Remove', `Remove ${name}?`, () => app.call('remove', { node: name }))))
		for (const input of element.querySelectorAll('button, input, select')) {
			input.disabled = !live.may(input.className === 'bad' ? 'owner' : 'operator')
		}
		return { element, update(node) {
			node.parameters.forEach(({ value }, i) => turners[i]?.update(value))
			for (const button of toggles) button.ariaPressed = node[button.textContent]
		}, turned: (key, value) => turners[parameters.findIndex(parameter => parameter.key === key)]?.update(value) }
	}

	return {
		/** The card of a node of these parts, as it is now. */
		of(node, { settings, actions }) {
			const [own, done] = [settings, actions].map(list => list.filter(other => other.node === node.name))
			const sign = JSON.stringify([typeText(node), node.degraded, node.no_bypass, node.parameters.map(({ key }) => key), own, live.readOnly])
			if (made.get(node.name)?.sign !== sign) made.set(node.name, { ...card(node, own, done), sign })
			made.get(node.name).update(node)
			return made.get(node.name).element
		},
		/** What is turned is told as it happens; all else comes with the graph, which is asked for when it has changed. */
		event({ event, node, parameter, value }) {
			if (event !== 'parameter.changed') return
			const show = () => made.get(node)?.turned(parameter, value)
			// An answer that is on its way may be older.
			Promise.resolve(live.described).then(show, show)
		},
	}
}

export function nodes(app) {
	const { find } = app
	const own = cards(app)
	return {
		changed(parts) {
			const elements = parts.nodes.map(node => own.of(node, parts))
			const { children } = find('nodes')
			if (elements.length !== children.length || elements.some((element, i) => children[i] !== element)) {
				find('nodes').replaceChildren(...elements)
			}
		},
		event: own.event,
	}
}
