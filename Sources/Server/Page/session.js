// SPDX-License-Identifier: Apache-2.0
// A conversation with a host: its states, the browser's sound, and what is said.
import { Live } from './live.js'
import { Sound } from './sound.js'
import { soundTrouble } from './words.js'

/** idle -> initialize -> loading -> collapsed -> start -> connecting -> expanded <-> transcript; error too. */
export class Session {
	state = 'idle'
	status = 'idle'
	muted = false
	/** What the node that answers says of its status. */
	label = ''
	error
	live
	graph
	/** Raised by whatever makes void what is under way. */
	#turn = 0
	#offs = []
	#bubbles
	#view
	#before
	#hadStreams = false
	#isSpeaking = false
	#isHeld = false
	/** Whether the host was not told that it is held no more. */
	#isOwed = false
	/** Seconds by which times of this run are later than those of the run before. */
	#shift = 0
	/** Words for what cannot be done, by what it is about, until it can. */
	#notes = new Map()
	#sound = new Sound({ note: (...given) => this.note(...given), muted: muted => this.#tell('mute', { muted }) })

	/**
	 * `view.wanted()` tells src, token, mode and isRound, `text(word)` how something is said; `changed()`, `described()` and
	 * `levels()` are called when there is something else to show, another graph and new levels; `told(type, detail)` when
	 * an event is to be dispatched.
	 */
	constructor(bubbles, view) {
		[this.#bubbles, this.#view] = [bubbles, view]
	}

	/** Whether messages reach the host. */
	get connected() {
		return this.live?.state === 'open'
	}

	/** The browser's sound that is open. */
	get streams() {
		return this.#sound.streams
	}

	/** The state of a conversation that an error holds up; undefined: there is none. */
	get held() {
		return this.error && this.#before
	}

	/** Words for what cannot be done now. */
	get notices() {
		return [...this.#notes.values()]
	}

	/** The word for how it stands: what does not speak cannot be interrupted. */
	get mood() {
		if (this.status !== 'idle' && (this.status !== 'waiting' || this.#isSpeaking)) return this.status
		return this.muted || !this.graph?.microphone || this.isPressed === false ? 'idle' : 'listening'
	}

	/** Whether that is pressed which is held to talk; visitors are told only of themselves. undefined: there is none. */
	get isPressed() {
		const { holding, hold } = this.graph ?? {}
		return holding && (hold ? this.live.last(holding, hold)?.on : this.#isHeld)
	}

	/** Whether the sound of this browser belongs to it, and has not begun. */
	get canBegin() {
		return this.#isTalking && this.graph?.streams.length > 0 && !this.streams.length
	}

	get #isTalking() {
		return this.state === 'expanded' || this.state === 'transcript'
	}

	get #isOn() {
		return this.state === 'connecting' || this.#isTalking
	}

	get #mode() {
		return this.#view.wanted().mode
	}

	async initialize() {
		if (this.state !== 'idle' && this.state !== 'error') return
		const { src, token, getToken } = this.#view.wanted()
		const live = src && Live.of(src, token, getToken)
		// Before it is left: a connection that has just come stays.
		const off = live && live.use()
		this.leave()
		const turn = this.#turn
		if (!src) return this.#fail('initialization', { word: 'address' })
		this.live = live
		this.set('loading')
		this.#offs = [live.on('state', (...given) => this.#connection(...given)),
			live.on('event', event => this.#event(event)), live.on('levels', () => this.#view.levels()), off]
		try {
			await live.opened
			const graph = await live.describe()
			if (turn !== this.#turn) return
			this.graph = graph
		} catch (error) {
			return turn === this.#turn && this.#fail('initialization', error)
		}
		this.#view.described()
		this.set('collapsed')
		if (this.#mode === 'conversation' || (this.#mode === 'widget' && this.graph.look.state === 'expanded')) this.start()
	}

	async start() {
		if (this.state !== 'collapsed') return
		const turn = ++this.#turn
		this.#clear()
		this.set('connecting')
		try {
			await this.live.opened
			this.graph = await this.live.describe()
			if (turn === this.#turn) await this.#open(this.#mode !== 'conversation')
		} catch (error) {
			if (turn === this.#turn) this.#fail('connection', error)
		}
		if (turn !== this.#turn || this.error) return
		this.set(this.#view.wanted().isRound || this.#mode === 'conversation' ? 'transcript' : 'expanded')
		// It begins with waiting, unless more is known.
		const mood = this.live.last(this.graph.answering, this.graph.mood)
		this.#feel(mood && mood.state !== 'idle' ? mood : { state: 'waiting', isSpeaking: false })
		if (this.#mode !== 'conversation') return
		const { recall } = await import('./recall.js').catch(() => ({}))
		await recall?.(this.live, this.graph, this.#bubbles, () => turn === this.#turn)
	}

	end() {
		const { answering: node, canForget } = this.graph ?? {}
		if (this.#isOn && canForget) this.live.call('do', { node, action: 'forget' }).catch(() => {})
		else if (!this.#isOn && !this.error) return
		this.#turn++
		this.#clear()
		this.set(this.graph ? 'collapsed' : 'idle')
	}

	/** Ends it and the connection; nothing of it is known any more. */
	leave() {
		this.#turn++
		this.hold(false)
		this.measure([])
		for (const off of this.#offs.splice(0)) off()
		this.graph = undefined
		this.#clear()
		this.set('idle')
	}

	/** Tries again now: a connection that is lost, or everything. */
	async retry() {
		if (this.#before && this.connected) await this.#restore()
		else if (this.#before) this.live.retry()
		else if (this.error) await this.initialize()
	}

	async mute(isMuted) {
		if (isMuted === this.muted || !this.#isOn) return
		const { microphone: node, streams } = this.graph
		const input = this.#sound.microphone
		try {
			if (streams.length && !input) return await this.#open(true, true)
			await (input ? input.mute(isMuted) : this.live.call('mute', { node, on: isMuted }))
			this.#tell('mute', { muted: isMuted })
			this.note('sound')
		} catch (error) {
			this.note('sound', input ? soundTrouble(error) : 'unmuted')
		}
	}

	/** Talks while it is held, where a node of the graph is pressed for that. */
	async hold(isHeld) {
		if (isHeld === this.#isHeld && !this.#isOwed) return
		this.#isHeld = isHeld
		this.#isOwed = false
		this.#view.changed()
		try {
			await this.live.call('do', { node: this.graph.holding, action: isHeld ? 'press' : 'release' })
			this.note('hold')
		} catch {
			this.#isOwed = !isHeld
			if (this.#isOn) this.note('hold', 'unmuted')
		}
	}

	async send(given) {
		const text = given.trim()
		const node = this.graph?.answering
		if (!text || !node || !this.connected || !this.#isOn) return false
		const echo = this.#bubbles.echo(text, this.live.time + this.#shift)
		try {
			await this.live.call('do', { node, action: 'send', arguments: { text } })
			this.note('message')
			return true
		} catch {
			this.#bubbles.failed(echo)
			this.note('message', 'unsent')
			return false
		}
	}

	/** The series that are looked at. */
	measure(series) {
		this.live?.ask(this, series)
	}

	/** Says by a word what cannot be done with the sound or a message; no word: it can. */
	note(what, word) {
		if (this.#notes.get(what) === word) return
		if (word) this.#notes.set(what, word)
		else this.#notes.delete(what)
		this.#view.changed()
	}

	set(state) {
		const previous = this.state
		if (state === previous) this.#view.changed()
		else this.#tell('state', { state, previous })
	}

	/** Opens the browser's microphone and speakers where the graph has nodes for them; else those of the host are used. */
	async #open(isWanted, isTaken) {
		const { live, graph: { streams, microphone: node } } = this
		if (!streams.length) {
			if (this.graph.node(node)?.mute && live.may('operator')) await live.call('mute', { node, on: false })
			return this.#tell('mute', { muted: false })
		}
		// A page that was only opened asks for no microphone.
		if (isWanted) return this.#sound.open(live, streams, isTaken)
		this.#sound.close()
		this.#tell('mute', { muted: true })
	}

	#close() {
		this.hold(false)
		this.#sound.close()
		this.#notes.clear()
	}

	#clear() {
		this.#close()
		this.error = this.#before = undefined
		this.#shift = 0
		this.#bubbles.clear()
		this.#view.changed()
	}

	#connection(state, isResumed) {
		const { refusal } = this.live
		if (state === 'lost' || state === 'refused') {
			if (this.#isOn) {
				this.#hadStreams = this.streams.length > 0
				this.#close()
				this.#fail('connection', refusal)
			} else if (this.error && this.error.message !== this.#view.text(refusal.word)) {
				// There is another reason now.
				this.#fail(this.error.kind, refusal, this.#before)
			}
		} else if (state === 'open' && this.error) {
			if (!this.#before) return this.initialize()
			// Another run begins its time anew; what was said stays before what comes.
			if (!isResumed) this.#shift = this.#bubbles.end
			this.#restore()
		} else if (state === 'open') this.#refresh()
		if (state === 'open' && this.#isOwed) this.hold(false)
		this.#view.changed()
	}

	async #restore() {
		this.error = undefined
		this.set(this.#before)
		this.#before = undefined
		const turn = this.#turn
		await this.#refresh()
		if (turn === this.#turn && this.graph.streams.length && !this.streams.length) this.#open(this.#hadStreams)
	}

	async #refresh() {
		const turn = this.#turn
		const graph = this.graph && await this.live.describe().catch(() => {})
		if (!graph || turn !== this.#turn) return
		this.graph = graph
		this.#view.described()
		const muted = graph.node(graph.microphone)?.mute ?? false
		if (!graph.streams.length && this.#isOn) this.#tell('mute', { muted })
	}

	#event(event) {
		const graph = this.graph
		const { event: name, node, item, text, delta } = event
		const time = event.time + this.#shift
		if (name === 'graph.changed') return this.#refresh()
		if (!graph) return
		if (node === graph.holding && name === graph.hold) return this.#view.changed()
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

	#feel({ state, label, kind = 'other', reason, retry, isSpeaking = state === 'waiting' }) {
		this.#isSpeaking = isSpeaking
		if (state === 'error' && this.#isOn) {
			this.#fail(kind, { word: retry ? 'away' : 'failed', message: reason })
		} else if (state !== 'error' && this.#before && this.connected) this.#restore()
		if (state === this.status && (label ?? '') === this.label) return this.#view.changed()
		this.label = label ?? ''
		this.#tell('status', { status: state, label: this.label })
	}

	/** Says it in words for whoever looks; `reason` is what was told, for whoever runs the page. */
	#fail(kind, { word = 'failed', message = '', hint }, before = this.#isTalking ? this.state : undefined) {
		const { text } = this.#view
		this.#before = before
		this.error = { kind, message: text(word), hint: text(word + '-hint'), reason: [message, hint].filter(Boolean).join('. ') }
		this.set('error')
		this.#view.told('error', this.error)
	}

	/** Takes the state, status or muting that there is now, shows it and tells it. */
	#tell(type, detail) {
		const [key] = Object.keys(detail)
		if (this[key] === detail[key] && key === 'muted') return
		this[key] = detail[key]
		this.#view.told(type, detail)
	}
}
