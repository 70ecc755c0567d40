// SPDX-License-Identifier: Apache-2.0
// The custom element <voice-graph>, which any page can load.
import { Bubbles } from './bubbles.js'
import { isDark, legible, mix, opaque, presetColors } from './colors.js'
import { icon, icons } from './dom.js'
import { Face, dark, forced, measured, styles } from './face.js'
import { layout, show, style } from './look.js'
import { Session } from './session.js'
import { Transcript, smooth } from './transcript.js'
import { words } from './words.js'

export { presets } from './colors.js'
export { Transcript, presetColors, smooth }

/** Attributes that are properties too, by their names. */
const texts = ['src', 'token', 'mode', 'visualizer', 'preset', 'theme', 'position']
/** Events that go up through the page; windows have other ones called error and message. */
const bubbling = ['state', 'status', 'mute']

/** A voice assistant, a conversation or a face on any page; voice-graph.d.ts describes it. */
export class VoiceGraph extends HTMLElement {
	static observedAttributes = ['src', 'token', 'mode', 'visualizer', 'preset', 'theme', 'icon-only', 'should-initialize', 'position',
		...Object.keys(words).map(word => 'label-' + word)]
	level = 0
	#parts = {}
	#labels = {}
	#getToken
	#holds
	#bubbles
	#session
	#wish
	/** Whether an error is shown as a card; undefined: as the element is. */
	#isOpened
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
		this.#bubbles = new Bubbles(parts, detail => this.#dispatch('message', detail), word => this.#text(word))
		const session = this.#session = new Session(this.#bubbles, {
			wanted: () => this.#wanted, text: word => this.#text(word),
			changed: () => this.#render(), described: () => this.#pick(),
			levels: () => this.#levels(), told: (type, detail) => this.#told(type, detail),
		})
		parts.launcher.onclick = () => this.#launch()
		parts.composer.onsubmit = event => this.#submit(event)
		parts.mute.onclick = () => this.mute(!this.muted)
		parts.toggle.onclick = () => session.set(this.state === 'expanded' ? 'transcript' : 'expanded')
		parts.end.onclick = () => this.end()
		parts.dismiss.onclick = () => (session.graph ? this.end() : this.#close())
		root.addEventListener('keydown', event => event.key === 'Escape' && this.#escape(event))
		parts.retry.onclick = () => this.retry()
		// What a page has set before this was known.
		for (const [name, value] of Object.entries(this)) {
			if (!(name in VoiceGraph.prototype)) continue
			delete this[name]
			this[name] = value
		}
	}

	/** What the system shows behind it has changed. */
	#relook = () => this.#look()

	connectedCallback() {
		for (const query of [dark, forced]) query.addEventListener('change', this.#relook)
		this.#lift()
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
		if (name === 'position') this.#lift()
		// Both may be about to change, or to be set to what they were.
		if (name === 'src' || name === 'token') setTimeout(this.#settle)
		this.#pick()
		this.#render()
	}

	/** What stands in a corner of the window is above all that the page has, where the browser can do that. */
	#lift() {
		if (!this.showPopover) return
		const isLifted = this.position.includes('-')
		if (isLifted === this.matches('[popover=manual]:popover-open')) return
		this.popover = isLifted ? 'manual' : null
		if (isLifted) this.showPopover()
	}

	/** Connects to what is wanted, and to nothing else. */
	#settle = () => {
		if (!this.isConnected) return this.#session.leave()
		if (this.state === 'idle') return this.shouldInitialize && this.initialize()
		const { src, token, getToken } = this.#wanted
		const { live } = this.#session
		if (live?.src === src && live.key === (getToken ?? token)) return
		this.#session.leave()
		this.initialize()
	}

	get shouldInitialize() {
		return this.getAttribute('should-initialize')?.toLowerCase() !== 'false'
	}

	set shouldInitialize(isWanted) {
		this.setAttribute('should-initialize', !!isWanted)
	}

	get iconOnly() {
		return this.hasAttribute('icon-only')
	}

	set iconOnly(isWanted) {
		this.toggleAttribute('icon-only', !!isWanted)
	}

	/** Words of one's own, by the names that words.js has; they go before those, and attributes before them. */
	get labels() {
		return this.#labels
	}

	set labels(given) {
		this.#labels = { ...given }
		this.#render()
	}

	/** Asked for a token at each connect, with the one that was refused, if one was. */
	get getToken() {
		return this.#getToken
	}

	set getToken(ask) {
		this.#getToken = ask ?? undefined
		setTimeout(this.#settle)
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
			token: this.getAttribute('token') ?? '', getToken: this.#getToken, mode: this.#mode, isRound: this.hasAttribute('icon-only'),
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
		this.#wish = { node, style, own, preset: this.getAttribute('preset') || own.preset || (style === 'orb' || style === 'spectrogram' ? '' : 'verdant') }
		const series = measured[style] ?? (graph.measures(node, 'bands') ? ['bands'] : [])
		this.#session.measure([...(node ? series.map(name => `${node}.${name}`) : [graph.speaking + '.output']),
			...(graph.microphone && !measured[style] ? [graph.microphone + '.output'] : [])])
	}

	#look() {
		if (!this.#wish) return
		const computed = getComputedStyle(this)
		const own = forced.matches && opaque(computed.color)
		const accent = this.#accent(computed)
		const preset = computed.getPropertyValue('--vg-visualizer').trim() || this.getAttribute('preset')
			|| (accent ? `${mix(accent, '#ffffff', 0.6)}-${accent}` : this.#wish.preset)
		const ground = this.#mode === 'face' ? this.parentElement ?? this : this.#parts.card
		this.face.look(this.#wish.style, own ? [own, own] : preset ? presetColors(preset) : undefined,
			opaque(getComputedStyle(ground).backgroundColor), this.#wish.own)
		this.#lookedAt = performance.now()
	}

	/** The scheme of the page: what it says, else what its ground looks like. */
	get #scheme() {
		const parents = []
		for (let node = this.parentElement ?? this.getRootNode().host; node; node = node.parentElement ?? node.getRootNode().host) {
			parents.push(getComputedStyle(node))
		}
		const said = parents[0]?.colorScheme.match(/light|dark/g) ?? []
		if (said.length) return said.length > 1 ? 'system' : said[0]
		const ground = parents.find(({ backgroundColor }) => !/[,/] ?0(\.\d+)?\)$/.test(backgroundColor) && backgroundColor !== 'transparent')
		return ground && isDark(opaque(ground.backgroundColor)) ? 'dark' : 'light'
	}

	/** One colour from which the others follow, each as far from its ground as it has to be; undefined: none is given. */
	#accent(computed) {
		const given = computed.getPropertyValue('--vg-accent').trim()
		const { style } = this.shadowRoot.lastChild
		const accent = given && opaque(given)
		const ground = accent && opaque(getComputedStyle(this.#parts.launcher).backgroundColor)
		const on = color => (isDark(color) ? '#ffffff' : '#10231e')
		const strong = accent && legible(accent, ground)
		Object.entries(accent ? { accent: strong, on: on(strong), own: accent, 'own-text': on(accent) }
			: { accent: '', on: '', own: '', 'own-text': '' }).forEach(([name, color]) => style.setProperty('--' + name, color))
		return accent || undefined
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
		if (measured[style]) return this.face.measure(live, node)
		const voice = live.values(node, 'orb')?.[0] ?? this.level
		const bands = live.values(node, 'bands')
		// Bars of a node that has bands wait for the first of them.
		if (style === 'bars' && !bands?.length && graph?.measures(node, 'bands')) return
		// Who is listened to is shown, on the scale of the node's own level.
		const [peak] = this.#session.mood === 'listening' && live.values(graph.microphone, 'output') || [0]
		const user = Math.min(1, Math.max(0, 1 + Math.log10(peak) / 2.5))
		const level = Math.max(voice, user)
		if (level > 0 && now - this.#lookedAt > 1000) this.#look()
		const isHeard = user > voice
		this.face.take(level, style !== 'orb' && bands?.length && !isHeard ? Array.from(bands) : undefined, isHeard)
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

	/** What cannot begin stays as a button that says so. */
	#close() {
		this.#isOpened = false
		this.#render()
	}

	/** First the list closes, then the conversation. */
	#escape(event) {
		if (this.#mode !== 'widget' || event.defaultPrevented) return
		event.stopPropagation()
		if (this.state === 'transcript' && !this.iconOnly) this.#session.set('expanded')
		else if (this.error && !this.#session.graph) this.#close()
		else this.end()
	}

	#dispatch(type, detail) {
		const isPublic = bubbling.includes(type)
		this.dispatchEvent(new CustomEvent(type, { detail, bubbles: isPublic, composed: isPublic }))
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
		if (type === 'state') this.#isOpened = undefined
		if (type !== 'error') this.#render()
		this.#dispatch(type, detail)
		if (type !== 'state' || detail.state !== 'transcript') return
		this.#bubbles.follow(true)
		if (this.#mode === 'widget' && detail.previous !== 'error') this.#parts.input.focus()
	}

	#text(word, otherwise) {
		return this.getAttribute('label-' + word) ?? this.#labels[word] ?? this.#session.graph?.look.texts?.[word] ?? (otherwise || words[word]) ?? word
	}

	#render() {
		const session = this.#session
		const { graph, live, state, status, mood, muted, error, label, notices, connected, streams, canBegin, isPressed } = session
		const { answering, microphone, speaking, holding } = graph ?? {}
		const picture = !connected ? 'lost' : microphone && muted && mood === 'idle' ? 'muted' : measured[this.#wish?.style] ? 'still' : mood
		this.face.think(picture === 'thinking')
		// There is no button before it does something.
		if (holding) this.#holds ??= import('./hold.js').then(({ holds }) => {
			holds(this.#parts.hold, is => session.hold(is))
			this.#holds = true
			this.#render()
		}, () => (this.#holds = undefined))
		const { activeElement: had } = this.shadowRoot
		if (this.isConnected) Object.assign(this.dataset, { state, status, muted })
		const { theme, logo } = graph?.look ?? {}
		this.shadowRoot.lastChild.dataset.theme = this.getAttribute('theme') ?? theme ?? this.#scheme
		show(this.#parts, {
			picture, canHold: holding && this.#holds === true && !live.readOnly, isPressed: !!isPressed,
			state, mood, muted, error, label, canBegin, notice: notices.map(word => this.#text(word)).join(' '), isOpened: this.#isOpened ?? !this.iconOnly, held: this.#session.held, isPinned: this.#bubbles.isPinned,
			isConnected: connected, isFace: this.#mode === 'face', isWidget: this.#mode === 'widget', isRound: this.hasAttribute('icon-only'),
			isReadOnly: live?.readOnly ?? false, canAnswer: !!answering,
			canMute: !!microphone && (graph.streams.length > 0 || live.has('operator')),
			logo: logo && new URL(logo, live.src).href,
			canTalk: !!(answering || microphone || speaking), hasStreams: streams.length > 0,
			text: (word, otherwise) => this.#text(word, otherwise),
		})
		if (had?.closest('[hidden], :disabled')) this.#focus()
		this.#look()
	}

	/** Who used a part that is there no more goes on with the nearest that is. */
	#focus() {
		const { input, mute, end, retry, launcher } = this.#parts
		;[input, mute, end, retry, launcher].find(part => !part.closest('[hidden], :disabled'))?.focus()
	}
}

for (const name of texts) {
	Object.defineProperty(VoiceGraph.prototype, name, {
		get() {
			return this.getAttribute(name) ?? ''
		},
		set(text) {
			this.setAttribute(name, text)
		},
		enumerable: true, configurable: true,
	})
}

if (!customElements.get('voice-graph')) customElements.define('voice-graph', VoiceGraph)
