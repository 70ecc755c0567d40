// SPDX-License-Identifier: Apache-2.0
// The microphone and the speakers of this browser, as a conversation uses them.
import { soundTrouble } from './words.js'

/** How long they may need to begin before that is said, in milliseconds. */
const beginning = 700

export class Sound {
	/** What is open: {node, waiting, missing, close()}, of the microphone mute(on) too. */
	streams = []
	#view
	/** Raised by whatever makes void what is being opened. */
	#turn = 0
	#unwatch
	#timer

	/** `view.note(what, word)` says by a word what cannot be done, `view.muted(isMuted)` whether the microphone is open. */
	constructor(view) {
		this.#view = view
	}

	get microphone() {
		return this.streams.find(({ mute }) => mute)
	}

	/** Opens these streams of a host, as far as the browser lets it; those that were open are closed. */
	async open(live, wanted) {
		this.close()
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

	close() {
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
