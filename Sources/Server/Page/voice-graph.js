// SPDX-License-Identifier: Apache-2.0
// The custom element <voice-graph>, which any page can load.
import { Bubbles } from './bubbles.js'
import { opaque, presetColors } from './colors.js'
import { icon, icons } from './dom.js'
import { Face, dark, forced } from './face.js'
import { layout, show, style } from './look.js'
import { Session } from './session.js'
import { Transcript, smooth } from './transcript.js'
import { words } from './words.js'

export { presets } from './colors.js'
export { Transcript, presetColors, smooth }

const styles = ['orb', 'bars', 'wave', 'meter']

/** A voice assistant, a conversation or a face on any page; voice-graph.d.ts describes it. */
export class VoiceGraph extends HTMLElement {
	static observedAttributes = ['src', 'token', 'mode', 'visualizer', 'preset', 'theme', 'icon-only', 'should-initialize',
		...Object.keys(words).map(word => 'label-' + word)]
	level = 0
	#parts = {}
	#labels = {}
	#bubbles
	#session
	#wish
	#isOpened = false
	#lookedAt = 0
	#smoothedAt = 0

	constructor() {
		super()
		const root = this.attachShadow({ mode: 'open' })
		root.adoptedStyleSheets = [style]
		root.append(layout())
		const parts = this.#parts
		for (const node of root.querySelectorAll('[class]')) {
			const [name] = node.classList
			node.part = name
			parts[name] ??= node
			if (icons[name]) node.prepend(icon(name))
		}
		this.face = new Face(parts.canvas)
		this.#bubbles = new Bubbles(parts, detail => this.dispatchEvent(new CustomEvent('message', { detail })))
		const session = this.#session = new Session(this.#bubbles, {
			wanted: () => this.#wanted, text: word => this.#text(word),
			changed: () => this.#render(), described: () => this.#pick(),
			levels: () => this.#levels(), told: (type, detail) => this.#told(type, detail),
		})
		parts.launcher.onclick = () => this.#launch()
		parts.composer.onsubmit = event => this.#submit(event)
		parts.mute.onclick = () => this.mute(!this.muted)
		parts.toggle.onclick = () => session.set(this.state === 'expanded' ? 'transcript' : 'expanded')
		parts.end.onclick = parts.dismiss.onclick = () => this.end()
		parts.retry.onclick = () => this.retry()
	}

	/** What the system shows behind it has changed. */
	#relook = () => this.#look()

	connectedCallback() {
		for (const query of [dark, forced]) query.addEventListener('change', this.#relook)
		this.#render()
		this.#bubbles.follow(this.#bubbles.isPinned)
		this.#settle()
	}

	/** An element that is only moved in the page is back before this is looked at. */
	disconnectedCallback() {
		for (const query of [dark, forced]) query.removeEventListener('change', this.#relook)
		setTimeout(this.#settle)
	}

	attributeChangedCallback(name, before, now) {
		if (!this.isConnected || now === before) return
		if (name === 'should-initialize') this.#settle()
		// Both may be about to change, or to be set to what they were.
		if (name === 'src' || name === 'token') setTimeout(this.#settle)
		this.#pick()
		this.#render()
	}

	/** Connects to what is wanted, and to nothing else. */
	#settle = () => {
		if (!this.isConnected) return this.#session.leave()
		if (this.state === 'idle') return this.getAttribute('should-initialize') !== 'false' && this.initialize()
		const { src, token } = this.#wanted
		const { live } = this.#session
		if (live?.src === src && live.token === token) return
		this.#session.leave()
		this.initialize()
	}

	/** Words of one's own, by the names that words.js has; they go before those, and attributes before them. */
	get labels() {
		return this.#labels
	}

	set labels(given) {
		this.#labels = { ...given }
		this.#render()
	}

	get state() {
		return this.#session.state
	}

	get status() {
		return this.#session.status
	}

	get muted() {
		return this.#session.muted
	}

	get error() {
		return this.#session.error
	}

	/** Whether messages reach the host. */
	get connected() {
		return this.#session.connected
	}

	/** The browser's sound that is open: node, and the frames that wait and that came too late. */
	get streams() {
		return this.#session.streams
	}

	/** What was said since it began. */
	get transcript() {
		return this.#bubbles.transcript
	}

	initialize() {
		return this.#session.initialize()
	}

	start() {
		return this.#session.start()
	}

	end() {
		this.#session.end()
	}

	retry() {
		return this.#session.retry()
	}

	mute(isMuted = true) {
		return this.#session.mute(isMuted)
	}

	unmute() {
		return this.mute(false)
	}

	send(text) {
		return this.#session.send(text)
	}

	get #mode() {
		const mode = this.getAttribute('mode') ?? 'widget'
		return styles.includes(mode) ? 'face' : mode
	}

	get #wanted() {
		const src = this.getAttribute('src') ?? new URL('.', import.meta.url)
		const url = URL.canParse(src, document.baseURI) && new URL(src, document.baseURI)
		return {
			src: url && /^https?:$/.test(url.protocol) ? url.href : '',
			token: this.getAttribute('token') ?? '', mode: this.#mode, isRound: this.hasAttribute('icon-only'),
		}
	}

	/** Which node is shown, and how: as attributes say, else as the node itself does. */
	#pick() {
		const { graph, live } = this.#session
		if (!graph) return
		const given = (this.getAttribute('visualizer') ?? '').split(/[\s/]+/)
		const node = given.find(word => graph.node(word)) ?? graph.face
		const own = live.last(node, graph.state(node, 'style')) ?? {}
		const style = [...given, this.getAttribute('mode'), own.style].find(word => styles.includes(word)) ?? 'bars'
		this.#wish = { node, style, own, preset: this.getAttribute('preset') || own.preset || (style === 'orb' ? '' : 'verdant') }
		this.#session.measure(
			!node ? [graph.speaking + '.output'] : graph.measures(node, 'bands') ? [node + '.bands'] : [])
	}

	#look() {
		if (!this.#wish) return
		const computed = getComputedStyle(this)
		const own = forced.matches && opaque(computed.color)
		const preset = computed.getPropertyValue('--vg-visualizer').trim() || this.#wish.preset
		const ground = this.#mode === 'face' ? this.parentElement ?? this : this.#parts.card
		this.face.look(this.#wish.style, own ? [own, own] : preset ? presetColors(preset) : undefined,
			opaque(getComputedStyle(ground).backgroundColor), this.#wish.own)
		this.#lookedAt = performance.now()
	}

	#levels() {
		if (!this.#wish) return
		const { live, graph } = this.#session
		const { node, style } = this.#wish
		const now = performance.now()
		if (now - this.#smoothedAt >= 195) {
			const [input] = live.values(node, 'rms') ?? live.values(graph?.speaking, 'output') ?? [0]
			this.level = smooth(this.level, input)
			this.#smoothedAt = now
		}
		const level = live.values(node, 'orb')?.[0] ?? this.level
		const bands = live.values(node, 'bands')
		// Bars of a node that has bands wait for the first of them.
		if (style === 'bars' && !bands?.length && graph?.measures(node, 'bands')) return
		if (level > 0 && now - this.#lookedAt > 1000) this.#look()
		this.face.take(level, style !== 'orb' && bands?.length ? Array.from(bands) : undefined)
	}

	#launch() {
		if (this.state === 'collapsed') this.start()
		else if (this.state === 'connecting') this.end()
		else if (this.error) {
			this.#isOpened = true
			this.#render()
			this.#parts.retry.focus()
		}
	}

	#submit(event) {
		event.preventDefault()
		const { input } = this.#parts
		if (!input.value.trim() || !this.connected) return
		this.#session.note('message')
		this.send(input.value)
		input.value = ''
	}

	/** Shows and tells an event of the session. */
	#told(type, detail) {
		if (type === 'state') this.#isOpened = false
		if (type !== 'error') this.#render()
		this.dispatchEvent(new CustomEvent(type, { detail }))
		if (type !== 'state' || detail.state !== 'transcript') return
		this.#bubbles.follow(true)
		if (this.#mode === 'widget' && detail.previous !== 'error') this.#parts.input.focus()
	}

	#text(word, otherwise) {
		return this.getAttribute('label-' + word) ?? this.#labels[word] ?? this.#session.graph?.look.texts?.[word] ?? (otherwise || words[word]) ?? word
	}

	#render() {
		const { graph, live, state, status, mood, muted, error, label, notices, connected, streams, canBegin } = this.#session
		const { answering, microphone, speaking } = graph ?? {}
		if (this.isConnected) Object.assign(this.dataset, { state, status, muted })
		const { theme, logo } = graph?.look ?? {}
		this.shadowRoot.lastChild.dataset.theme = this.getAttribute('theme') ?? theme
		show(this.#parts, {
			state, mood, muted, error, label, canBegin, notice: notices.map(word => this.#text(word)).join(' '), isOpened: this.#isOpened, isPinned: this.#bubbles.isPinned,
			isConnected: connected, isFace: this.#mode === 'face', isRound: this.hasAttribute('icon-only'),
			isReadOnly: live?.readOnly ?? false, canAnswer: !!answering,
			canMute: !!microphone && (graph.streams.length > 0 || live.has('operator')),
			logo: logo && new URL(logo, live.src).href,
			canTalk: !!(answering || microphone || speaking), hasStreams: streams.length > 0,
			text: (word, otherwise) => this.#text(word, otherwise),
		})
		this.#look()
	}
}

if (!customElements.get('voice-graph')) customElements.define('voice-graph', VoiceGraph)
