// SPDX-License-Identifier: Apache-2.0
// A page to try the element on, which tells what to write into a page of one's own.
import { presets } from './colors.js'
import { h } from './dom.js'
import './voice-graph.js'

const find = id => document.getElementById(id)
const src = new URL('.', location).href.replace(/\/$/, '')
/** What can be chosen, the first of each being what it is without the attribute. */
const choices = {
	mode: ['widget', 'conversation', 'face', 'orb', 'bars', 'wave', 'meter', 'spectrum', 'spectrogram', 'scope', 'goniometer', 'loudness'],
	preset: Object.keys(presets),
	theme: ['the page’s', 'light', 'dark', 'system'],
	position: ['inline', 'bottom-right', 'bottom-left', 'top-right', 'top-left'],
}
const selects = Object.entries(choices).map(([name, values]) =>
	h('select', { name, 'aria-label': name }, ...values.map(value => h('option', {}, value))))
const round = h('input', { type: 'checkbox', name: 'icon-only' })
const own = h('input', { type: 'checkbox', name: 'own' })
const accent = h('input', { type: 'color', 'aria-label': 'Colour', value: '#036b5b' })
const start = h('input', { 'aria-label': 'Text of the button', placeholder: 'Start a conversation', maxlength: 80 })
const labelled = (text, input) => h('label', { class: 'field' }, text, input)

/** A text between the quotes of an attribute. */
const quoted = text => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')

function show() {
	const given = selects.filter(select => select.selectedIndex).map(({ name, value }) => [name, value])
	if (round.checked) given.push(['icon-only', ''])
	if (start.value.trim()) given.push(['label-start', start.value.trim()])
	accent.disabled = !own.checked
	const element = h('voice-graph', { src, token: localStorage.token, ...Object.fromEntries(given) })
	if (own.checked) element.style.setProperty('--vg-accent', accent.value)
	find('preview').replaceChildren(element)
	find('snippet').textContent = [
		`<script type="module" src="${src}/voice-graph.js"></script>`,
		own.checked && `<style>voice-graph { --vg-accent: ${accent.value} }</style>`,
		`<voice-graph src="${src}" token="..."${given.map(([name, value]) => ` ${name}${value && `="${quoted(value)}"`}`).join('')}></voice-graph>`,
	].filter(Boolean).join('\n')
	find('copied').textContent = ''
}

find('look').append(...selects.map(select => labelled(select.name, select)), labelled('Text of the button', start),
	h('label', { class: 'switch' }, round, 'Icon only'),
	h('div', { class: 'switch' }, h('label', { class: 'switch' }, own, 'A colour of my own'), accent))
find('look').oninput = show
find('look').onsubmit = event => event.preventDefault()
find('needs').textContent = `The token is a visitor’s: \`voicegraph web --right visitor --no-open\` prints a link that has it. The address of your page has to stand in \`origins\` of [web]. With a Content-Security-Policy your page needs ${src} in script-src, and in connect-src both that and ${src.replace(/^http/, 'ws')}. A frame needs allow="microphone".`
// Browsers give a clipboard to secure pages only.
find('copy').onclick = () => Promise.resolve(find('snippet').textContent).then(text => navigator.clipboard.writeText(text)).then(
	() => (find('copied').textContent = 'Copied.'),
	() => (find('copied').textContent = 'The browser does not allow it here: select the text and copy it.'))
show()
