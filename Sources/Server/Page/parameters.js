// SPDX-License-Identifier: Apache-2.0
// What the parameters of a node are turned with.
import { h } from './dom.js'

/** Milliseconds after a turn of one's own in which what is told may be older than that. */
const rest = 300

/** Sets a parameter by one call at a time: what was wanted meanwhile goes with the next one. `show` shows a value. */
function setter(app, node, parameter, show) {
	let [wanted, isBusy, isTold, turnedAt, timer, input] = [undefined, false, false, -rest]
	/** Shows what was told last, but not while this is being turned. */
	function settle() {
		clearTimeout(timer)
		if (isBusy || performance.now() - turnedAt < rest || input.matches(':active')) timer = setTimeout(settle, rest)
		else show(parameter.value)
	}
	return {
		async set(value) {
			show(wanted = value)
			if (isBusy) return
			isBusy = true
			while (wanted !== undefined) {
				const value = wanted
				wanted = undefined
				isTold = false
				const answer = await app.call('set', { node, parameter: parameter.key, value })
				// What was told meanwhile may be newer, and if it is not, what is newer will be told.
				if (!isTold) parameter.value = answer?.value ?? parameter.value
			}
			isBusy = false
			turnedAt = performance.now()
			if (isTold) settle()
			else show(parameter.value)
		},
		/** Takes what was told, of whoever has turned it. */
		update(value, own) {
			input = own
			parameter.value = value
			isTold = true
			settle()
		},
	}
}

/** A button: what a trigger is set to holds for a moment only. */
function trigger(app, node, { key, minimum, maximum, default: rest, doc }) {
	const press = () => app.call('set', { node, parameter: key, value: rest === maximum ? minimum : maximum })
	const button = h('button', { title: doc, 'aria-label': `${key} of ${node}`, onclick: press }, key)
	return { element: h('div', { class: 'row' }, button), update() {} }
}

function toggle(app, node, parameter) {
	const { key, doc } = parameter
	const input = h('input', { type: 'checkbox', role: 'switch', title: doc, 'aria-label': `${key} of ${node}`,
		onchange: () => set(+input.checked) })
	const { set, update } = setter(app, node, parameter, value => (input.checked = value > 0))
	return { element: h('label', { class: 'switch' }, input, key), input, set, update }
}

function choice(app, node, parameter) {
	const { key, doc, points, unit } = parameter
	const input = h('select', { title: doc, 'aria-label': `${key} of ${node}`, onchange: () => set(Number(input.value)) },
		...[...points].sort((a, b) => a.value - b.value).map(({ label, value }) => h('option', { value }, label)))
	const { set, update } = setter(app, node, parameter, value => {
		// A plugin may rest between its own points.
		if (![...input.options].some(option => Number(option.value) === value)) input.append(h('option', { value }, `${value}`))
		input.value = value
	})
	return { element: h('label', { class: 'field' }, unit ? `${key}, ${unit}` : key, input), input, set, update }
}

function slider(app, node, parameter) {
	const { key, minimum: low, maximum: high, unit, doc, scale, flags, points = [] } = parameter
	const isRatio = scale === 'logarithmic' && low > 0
	const isStepped = flags.includes('stepped')
	const place = value => (isRatio ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low))
	const valueAt = place => {
		const value = isRatio ? low * (high / low) ** place : low + (high - low) * place
		if (isStepped) return Math.max(Math.ceil(low), Math.min(Math.floor(high), Math.round(value)))
		return Math.max(low, Math.min(high, Number(value.toPrecision(4))))
	}
	const output = h('output')
	const step = isStepped && !isRatio && high > low ? 1 / (high - low) : 0.002
	const input = h('input', { type: 'range', max: 1, step, 'aria-label': `${key} of ${node}`, title: doc,
		oninput: () => set(valueAt(input.value)) })
	const { set, update } = setter(app, node, parameter, value => {
		input.value = place(value)
		const name = points.find(point => point.value === value)?.label
		output.value = input.ariaValueText = name ?? `${Number(value.toPrecision(4))} ${unit}`
	})
	return { element: h('label', { class: 'slider' }, key, output, input), input, set, update }
}

/** What turns a parameter: a double click and Backspace set it back to its default. */
export function turner(app, node, parameter) {
	const { flags, points = [], minimum, maximum } = parameter
	if (flags.includes('trigger')) return trigger(app, node, parameter)
	// Of a plugin's enumeration every value has a name; other whole numbers may have some.
	const isNamed = points.length > 1 && flags.includes('stepped') &&
		(points.length > maximum - minimum || points.some(({ value }) => !Number.isInteger(value)))
	const make = isNamed ? choice : flags.includes('toggle') ? toggle : slider
	const { element, input, set, update } = make(app, node, parameter)
	const reset = () => input.disabled || set(parameter.default)
	input.ondblclick = reset
	input.onkeydown = ({ key }) => void (key === 'Backspace' && reset())
	update(parameter.value, input)
	return { element, update: value => update(value, input) }
}
