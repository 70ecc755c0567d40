// SPDX-License-Identifier: Apache-2.0
// The microphone and the speakers of this browser, as a conversation uses them.
import { soundTrouble } from './words.js'

/** How long they may need to begin before that is said, in milliseconds. */
const beginning = 700
/** Who on this page wants the sound of a host, by its address: the first has it, those behind wait for it. */
const queues = new Map()

export class Sound {
	/** What is open: {node, waiting, missing, close()}, of the microphone mute(on) too. */
	streams = []
	#view
	/** Raised by whatever makes void what is being opened. */
	#turn = 0
	#unwatch
	#timer
	#queue = []
	#begin

	/** `view.note(what, word)` says by a word what cannot be done, `view.muted(isMuted)` whether the microphone is open. */
	constructor(view) {
		this.#view = view
	}

	get microphone() {
		return this.streams.find(({ mute }) => mute)
	}

	/** Opens these streams of a host, as far as the browser lets it; those that were open are closed. What another of this
	 * page has is waited for, or with `isTaken` taken from it: a voice is heard once. */
	async open(live, wanted, isTaken = false) {
		this.close()
		const queue = this.#queue = queues.get(live.src) ?? []
		queues.set(live.src, queue)
		this.#begin = () => this.#open(live, wanted)
		if (isTaken) queue[0]?.#wait()
		queue.splice(isTaken ? 0 : queue.length, 0, this)
		if (queue[0] === this) await this.#begin()
		else this.#wait()
	}

	close() {
		this.#stop()
		const [first] = this.#queue
		if (this.#queue.includes(this)) this.#queue.splice(this.#queue.indexOf(this), 1)
		if (first === this) this.#queue[0]?.#begin()
	}

	#wait() {
		this.#stop()
		this.#view.note('sound', 'shared')
		this.#view.muted(true)
	}

	async #open(live, wanted) {
		const turn = this.#turn
		let trouble
		try {
			const { openStream, isSuspended, onSuspended } = await import(new URL('web-audio.js', import.meta.url))
			const look = () => this.#view.note('silence', isSuspended() ? 'suspended' : undefined)
			if (turn !== this.#turn) return
			this.#unwatch = onSuspended(look)
			this.#timer = setTimeout(look, beginning)
			for (const direction of ['output', 'input']) {
				const stream = wanted.find(stream => stream.direction === direction)
				const opened = stream && await openStream(live, stream.node, direction, () => this.#end())
				if (turn !== this.#turn) return opened?.close()
				if (opened) this.streams.push(opened)
			}
		} catch (error) {
			if (turn !== this.#turn) return
			trouble = soundTrouble(error)
		}
		this.#view.note('sound', trouble)
		this.#view.muted(!this.microphone)
	}

	#stop() {
		this.#turn++
		for (const stream of this.streams.splice(0)) stream.close()
		this.#unwatch?.()
		clearTimeout(this.#timer)
		this.#view.note('silence')
	}

	/** The microphone has gone while it was open. */
	#end() {
		this.microphone?.mute(true)
		this.#view.note('sound', 'ended')
		this.#view.muted(true)
	}
}
