// SPDX-License-Identifier: Apache-2.0
// The custom element <voice-graph>, which any page can load.
import { Bubbles } from './bubbles.js'
import { opaque, presetColors } from './colors.js'
import { icon, icons } from './dom.js'
import { Face, dark, forced } from './face.js'
import { Live } from './live.js'
import { layout, show, style } from './look.js'
import { Transcript, smooth } from './transcript.js'

export { presets } from './colors.js'
export { Transcript, presetColors, smooth }

const words = {
	start: 'Start a conversation', loading: 'Loading…', connecting: 'Connecting…', idle: 'Idle',
	thinking: 'Thinking...', waiting: 'Speak to interrupt', message: 'Type a message', empty: 'Nothing was said yet.',
}
const styles = ['orb', 'bars', 'wave', 'meter']

/** A voice assistant, a conversation or a face on any page; voice-graph.d.ts describes it. */
export class VoiceGraph extends HTMLElement {
	static observedAttributes = ['src', 'token', 'mode', 'visualizer', 'preset', 'theme', 'icon-only', 'should-initialize',
		...Object.keys(words).map(word => 'label-' + word)]
	state = 'idle'
	status = 'idle'
	muted = false
	level = 0
	#live
	#graph
	#parts = {}
	/** Raised by whatever makes void what is under way. */
	#turn = 0
	#offs = []
	#bubbles
	#before
	#wish
	#streams = []
	#hadStreams = false
	#isOpened = false
	#lookedAt = 0
	#smoothedAt = 0

	constructor() {
		super()
		const root = this.attachShadow({ mode: 'open' })
		root.adoptedStyleSheets = [style]
		root.append(document.createRange().createContextualFragment(layout))
		const parts = this.#parts
		for (const node of root.querySelectorAll('[class]')) {
			const [name] = node.classList
			node.part = name
			parts[name] ??= node
			if (icons[name]) node.prepend(icon(name))
		}
		parts.launcher.onclick = () => this.#launch()
		parts.composer.onsubmit = event => this.#submit(event)
		parts.mute.onclick = () => this.mute(!this.muted)
		parts.toggle.onclick = () => this.#set(this.state === 'expanded' ? 'transcript' : 'expanded')
		parts.end.onclick = parts.dismiss.onclick = () => this.end()
		parts.retry.onclick = () => this.retry()
		this.face = new Face(parts.canvas)
		this.#bubbles = new Bubbles(parts, detail => this.dispatchEvent(new CustomEvent('message', { detail })))
	}

	/** What the system shows behind it has changed. */
	#relook = () => this.#look()

	connectedCallback() {
		for (const query of [dark, forced]) query.addEventListener('change', this.#relook)
		this.#render()
		this.attributeChangedCallback('should-initialize')
	}

	disconnectedCallback() {
		for (const query of [dark, forced]) query.removeEventListener('change', this.#relook)
		this.#leave()
	}

	attributeChangedCallback(name) {
		if (!this.isConnected) return
		if (name === 'should-initialize' && this.getAttribute(name) !== 'false' && this.state === 'idle') this.initialize()
		if ((name === 'src' || name === 'token') && this.state !== 'idle') {
			this.#leave()
			this.initialize()
		}
		this.#pick()
		this.#render()
	}

	/** Whether messages reach the host. */
	get connected() {
		return this.#live?.state === 'open'
	}

	/** The browser's sound that is open: node, and the frames that wait and that came too late. */
	get streams() {
		return this.#streams
	}

	/** What was said since it began. */
	get transcript() {
		return this.#bubbles.transcript
	}

	get #isTalking() {
		return this.state === 'expanded' || this.state === 'transcript'
	}

	get #inSession() {
		return this.state === 'connecting' || this.#isTalking
	}

	get #mode() {
		const mode = this.getAttribute('mode') ?? 'widget'
		return styles.includes(mode) ? 'face' : mode
	}

	async initialize() {
		if (this.state !== 'idle' && this.state !== 'error') return
		this.#leave()
		const turn = this.#turn
		const src = new URL(this.getAttribute('src') ?? new URL('.', import.meta.url), document.baseURI)
		const live = this.#live = Live.of(src.href, this.getAttribute('token') ?? '')
		this.#set('loading')
		this.#offs = [live.on('state', (...given) => this.#connection(...given)),
			live.on('event', event => this.#event(event)), live.on('levels', () => this.#levels()), live.use()]
		try {
			await live.opened
			const graph = await live.describe()
			if (turn !== this.#turn) return
			this.#graph = graph
		} catch (error) {
			return turn === this.#turn && this.#fail('initialization', error)
		}
		this.#pick()
		this.#set('collapsed')
		if (this.#mode === 'conversation') this.start()
	}

	async start() {
		if (this.state !== 'collapsed') return
		const turn = ++this.#turn
		this.#clear()
		this.#set('connecting')
		try {
			await this.#live.opened
			this.#graph = await this.#live.describe()
			if (turn === this.#turn) await this.#open(this.#mode !== 'conversation')
		} catch (error) {
			if (turn === this.#turn) this.#fail('connection', error)
		}
		if (turn !== this.#turn || this.error) return
		this.#set(this.hasAttribute('icon-only') || this.#mode === 'conversation' ? 'transcript' : 'expanded')
		// It begins with waiting, unless more is known.
		const mood = this.#live.last(this.#graph.answering, this.#graph.mood)
		this.#feel(mood && mood.state !== 'idle' ? mood : { state: 'waiting' })
	}

	end() {
		const { answering: node, canForget } = this.#graph ?? {}
		if (this.#inSession && canForget) this.#live.call('do', { node, action: 'forget' }).catch(() => {})
		else if (!this.#inSession && !this.error) return
		this.#turn++
		this.#clear()
		this.#set(this.#graph ? 'collapsed' : 'idle')
	}

	async retry() {
		if (this.error) await this.initialize()
	}

	async mute(isMuted = true) {
		if (isMuted === this.muted || !this.#inSession) return
		const { microphone: node, streams } = this.#graph
		const input = this.#streams.find(({ mute }) => mute)
		try {
			if (streams.length && !input) return await this.#open(true)
			await (input ? input.mute(isMuted) : this.#live.call('mute', { node, on: isMuted }))
			this.#tell('mute', { muted: isMuted })
		} catch (error) {
			this.#notice(error)
		}
	}

	unmute() {
		return this.mute(false)
	}

	async send(given) {
		const text = given.trim()
		const node = this.#graph?.answering
		if (!text || !node || !this.connected || !this.#inSession) return false
		const echo = this.#bubbles.echo(text, this.#live.time)
		try {
			await this.#live.call('do', { node, action: 'send', arguments: { text } })
			return true
		} catch (error) {
			this.#bubbles.failed(echo)
			this.#notice(error)
			return false
		}
	}

	/** Opens the browser's microphone and speakers where the graph has nodes for them; else those of the host are used. */
	async #open(isWanted) {
		const [turn, live] = [this.#turn, this.#live]
		const { streams, microphone: node } = this.#graph
		if (!streams.length) {
			if (this.#graph.node(node)?.mute && !live.readOnly) await live.call('mute', { node, on: false })
			return this.#tell('mute', { muted: false })
		}
		this.#close()
		// A page that was only opened asks for no microphone.
		if (!isWanted) return this.#tell('mute', { muted: true })
		try {
			const { openStream } = await import(new URL('web-audio.js', import.meta.url))
			for (const direction of ['output', 'input']) {
				const stream = streams.find(stream => stream.direction === direction)
				if (stream) this.#streams.push(await openStream(live, stream.node, direction))
			}
		} catch (error) {
			this.#notice(error)
		}
		this.#tell('mute', { muted: !this.#streams.some(({ mute }) => mute) })
		if (turn !== this.#turn) this.#close()
	}

	#close() {
		for (const stream of this.#streams.splice(0)) stream.close()
	}

	#leave() {
		this.#turn++
		this.#live?.ask(this, [])
		for (const off of this.#offs.splice(0)) off()
		this.#graph = undefined
		this.#clear()
		this.#set('idle')
	}

	#clear() {
		this.#close()
		this.error = this.#before = undefined
		this.#bubbles.clear()
		this.#notice()
	}

	#connection(state, isResumed) {
		if ((state === 'lost' || state === 'refused') && this.#inSession) {
			this.#hadStreams = this.#streams.length > 0
			this.#close()
			this.#fail('connection', this.#live.refusal)
		} else if (state === 'open' && this.error) {
			if (isResumed && this.#before) this.#restore()
			else if (this.#mode !== 'widget') this.initialize()
		} else if (state === 'open') this.#refresh()
		this.#render()
	}

	async #restore() {
		this.error = undefined
		this.#set(this.#before)
		this.#before = undefined
		const turn = this.#turn
		await this.#refresh()
		if (turn === this.#turn && this.#graph.streams.length) this.#open(this.#hadStreams)
	}

	async #refresh() {
		const turn = this.#turn
		const graph = this.#graph && await this.#live.describe().catch(() => {})
		if (!graph || turn !== this.#turn) return
		this.#graph = graph
		this.#pick()
		const muted = graph.node(graph.microphone)?.mute ?? false
		if (!graph.streams.length && this.#inSession) this.#tell('mute', { muted })
	}

	/** Which node is shown, and how: as attributes say, else as the node itself does. */
	#pick() {
		const graph = this.#graph
		if (!graph) return
		const given = (this.getAttribute('visualizer') ?? '').split(/[\s/]+/)
		const node = given.find(word => graph.node(word)) ?? graph.face
		const own = this.#live.last(node, graph.state(node, 'style')) ?? {}
		const style = [...given, this.getAttribute('mode'), own.style].find(word => styles.includes(word)) ?? 'bars'
		this.#wish = { node, style, preset: this.getAttribute('preset') || own.preset || (style === 'orb' ? '' : 'verdant') }
		this.#live.ask(this, !node ? [graph.speaking + '.output'] : graph.measures(node, 'bands') ? [node + '.bands'] : [])
	}

	#look() {
		if (!this.#wish) return
		const computed = getComputedStyle(this)
		const own = forced.matches && opaque(computed.color)
		const preset = computed.getPropertyValue('--vg-visualizer').trim() || this.#wish.preset
		const ground = this.#mode === 'face' ? this.parentElement ?? this : this.#parts.card
		this.face.look(this.#wish.style, own ? [own, own] : preset ? presetColors(preset) : undefined,
			opaque(getComputedStyle(ground).backgroundColor))
		this.#lookedAt = performance.now()
	}

	#levels() {
		if (!this.#wish) return
		const live = this.#live
		const { node, style } = this.#wish
		const now = performance.now()
		if (now - this.#smoothedAt >= 195) {
			const [input] = live.values(node, 'rms') ?? live.values(this.#graph?.speaking, 'output') ?? [0]
			this.level = smooth(this.level, input)
			this.#smoothedAt = now
		}
		const level = live.values(node, 'orb')?.[0] ?? this.level
		const bands = live.values(node, 'bands')
		if (level > 0 && now - this.#lookedAt > 1000) this.#look()
		this.face.take(level, style === 'bars' && bands?.length ? bands : undefined)
	}

	#event(event) {
		const graph = this.#graph
		const { event: name, node, item, text, delta, time } = event
		if (name === 'graph.changed') return this.#refresh()
		if (!graph) return
		if (node === graph.answering && name === graph.mood) return this.#feel(event)
		if (!graph.answering && node === graph.speaking && name === graph.speech) {
			return this.#feel({ state: event.speaking ? 'waiting' : 'idle' })
		}
		const kind = graph.texts.get(node + ' ' + name)
		if (!kind || !this.#isTalking) return
		const id = `${node} ${item}`
		const { role, stage: state } = kind
		if (node === graph.answering && role === 'user') this.#bubbles.returned(text, id, time)
		this.#bubbles.put(state === 'withdrawn' ? { id, text: '' } : { id, role, text, delta, time, state })
	}

	#feel({ state, label, kind = 'other', error = 'Something went wrong', reason }) {
		if (state === 'error' && this.#inSession) this.#fail(kind, { message: error, hint: reason })
		else if (state !== 'error' && this.#before && this.connected) this.#restore()
		this.#parts.status.dataset.label = label ?? ''
		this.#tell('status', { status: state, label })
	}

	#notice(error) {
		this.#parts.notice.textContent = error ? `${error.message}. ${error.hint ?? ''}` : ''
		this.#render()
	}

	#fail(kind, { message, hint = '' }) {
		this.#before = this.#isTalking ? this.state : undefined
		this.error = { kind, message, hint }
		this.#set('error')
		this.dispatchEvent(new CustomEvent('error', { detail: this.error }))
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
		this.#notice()
		this.send(input.value)
		input.value = ''
	}

	#set(state) {
		const previous = this.state
		if (state === previous) return this.#render()
		this.#isOpened = false
		this.#tell('state', { state, previous })
		if (state !== 'transcript') return
		this.#bubbles.follow(true)
		if (this.#mode === 'widget' && previous !== 'error') this.#parts.input.focus()
	}

	/** Takes the state, status or muting that there is now, shows it and tells it. */
	#tell(type, detail) {
		const [key] = Object.keys(detail)
		if (this[key] === detail[key] && key === 'muted') return
		this[key] = detail[key]
		this.#render()
		this.dispatchEvent(new CustomEvent(type, { detail }))
	}

	#text(word, otherwise) {
		return this.getAttribute('label-' + word) ?? (otherwise || words[word]) ?? word
	}

	#render() {
		const { state, status, muted, error } = this
		const { answering, microphone, speaking } = this.#graph ?? {}
		if (this.isConnected) Object.assign(this.dataset, { state, status, muted })
		show(this.#parts, {
			state, status, muted, error, isOpened: this.#isOpened, isPinned: this.#bubbles.isPinned, isConnected: this.connected,
			isFace: this.#mode === 'face', isRound: this.hasAttribute('icon-only'), isReadOnly: this.#live?.readOnly ?? false,
			canAnswer: !!answering, canMute: !!microphone, canTalk: !!(answering || microphone || speaking),
			hasStreams: this.#streams.length > 0,
			text: (word, otherwise) => this.#text(word, otherwise),
		})
		this.#look()
	}
}

if (!customElements.get('voice-graph')) customElements.define('voice-graph', VoiceGraph)
