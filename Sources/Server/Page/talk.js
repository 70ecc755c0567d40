// SPDX-License-Identifier: Apache-2.0
// The face, and what the voice says.
import { presets } from './colors.js'
import { dictation } from './dictation.js'
import { h } from './dom.js'

export function talk(app) {
	const { find, live } = app
	const [face, form, text, heard, picture, node] =
		['face', 'speak', 'speak-text', 'heard', 'picture', 'face-node'].map(find)
	const dictations = dictation(app)
	let letters = []
	/** Marks a part of what is spoken, counted in unicode scalars. */
	const mark = (begin, end) => [letters.slice(0, begin), letters.slice(begin, end), letters.slice(end)].forEach(
		(part, i) => (heard.children[i].textContent = part.join('')))
	const act = (action, given) => app.call('do', { node: app.parts.speaking, action, arguments: given })
	const submit = event => {
		event.preventDefault()
		act('speak', { text: text.value.trim() })
	}
	form.onsubmit = submit
	text.onkeydown = event => void (event.key === 'Enter' && !event.shiftKey && submit(event))
	find('stop').onclick = () => act('stop')
	picture.onchange = node.onchange = () => face.setAttribute('visualizer', `${picture.value} ${node.value}`)
	find('preset').onchange = ({ target }) => face.setAttribute('preset', target.value)
	find('preset').append(...Object.keys(presets).map(name => h('option', {}, name)))

	function event(event) {
		const { parts } = app
		const { node, event: name, speaking, paused, text = '', offset, length } = event
		dictations.event(event)
		if (!parts || node !== parts.speaking) return
		if (name === parts.speech) {
			find('speaking').value = paused ? 'Paused' : speaking ? 'Speaking…' : 'Idle'
			letters = [...text]
			mark(0, 0)
		} else if (name === parts.word) mark(offset, offset + length)
	}
	return { event, changed(parts) {
		const { faces, face, speaking, speech } = parts
		dictations.changed(parts)
		node.replaceChildren(...faces.map(name => h('option', {}, name)))
		node.value = face
		find('pictures').hidden = !faces.length
		form.hidden = !speaking
		form.parentNode.hidden = !faces.length && !speaking && !parts.dictating.length
		for (const field of form.elements) field.disabled = !live.may('operator')
		event(live.last(speaking, speech) ?? {})
	} }
}
