// SPDX-License-Identifier: Apache-2.0
// What was said, as bubbles in a list.
import { h } from './dom.js'
import { Transcript } from './transcript.js'

const sentences = new Intl.Segmenter(undefined, { granularity: 'sentence' })

/** A list that follows its newest bubble, unless somebody has scrolled up to read. */
export class Bubbles {
	transcript = new Transcript()
	#list
	#newest
	#said
	#told
	#text
	#elements = new Map()
	/** Of each item, how many characters were read out. */
	#read = new WeakMap()
	/** What was typed here and has not come back yet. */
	#echoes = []
	#isPinned = true
	/** Where the list was scrolled to, and how tall it and all of it were, as far as is known. */
	#known = { top: 0 }

	/** `said` is read out by screen readers; `told` takes each item that changed, `text(word)` is how something is said. */
	constructor({ transcript: list, newest, said }, told, text) {
		[this.#list, this.#newest, this.#said, this.#told, this.#text] = [list, newest, said, told, text]
		list.onscroll = () => this.#scrolled()
		newest.onclick = () => {
			this.follow(true)
			list.focus()
		}
		// What appears beside the list takes of its height.
		new ResizeObserver(() => this.follow(this.#isPinned)).observe(list)
	}

	/** Whether the newest bubble is in sight. */
	get isPinned() {
		return this.#isPinned
	}

	/** Seconds at which the newest item began. */
	get end() {
		return this.transcript.items.at(-1)?.time ?? 0
	}

	clear() {
		this.transcript.items = []
		this.#echoes = []
		this.#elements.clear()
		this.#list.replaceChildren()
		this.#isPinned = true
	}

	/** Shows what was typed before the host has it. */
	echo(text, time) {
		const echo = { id: `typed ${performance.now()}`, text, role: 'user', state: 'partial', time }
		this.#echoes.push(echo)
		this.put(echo)
		this.follow(true)
		return echo
	}

	/** What was typed did not arrive. */
	failed(echo) {
		this.#echoes = this.#echoes.filter(other => other !== echo)
		this.put({ ...echo, state: 'unsent' })
	}

	/** What was typed here has come back, and goes by its own number and time from now on. */
	returned(text, id, time) {
		const echo = this.#echoes.find(other => other.text === text)
		if (!echo) return
		this.#echoes = this.#echoes.filter(other => other !== echo)
		const item = this.transcript.retime(echo.id, id, time)
		this.#elements.set(id, this.#elements.get(echo.id))
		this.#elements.delete(echo.id)
		this.#change(() => this.#place(item))
	}

	/** Takes a text as a transcript does; what is no news is not read out. */
	put(given, isNews = true) {
		const item = this.transcript.put(given)
		if (!item) return
		this.#change(() => this.#show(item))
		if (!item.isGone && item.role === 'agent' && isNews) this.#announce(item)
		this.#told({ ...item })
	}

	#show(item) {
		let bubble = this.#elements.get(item.id)
		if (!bubble) {
			bubble = h('li')
			this.#elements.set(item.id, bubble)
			this.#place(item)
		}
		bubble.className = `${item.role} ${item.state}`
		bubble.part = `bubble ${item.role}-bubble`
		// Who speaks is seen by its side, and heard by screen readers.
		bubble.dataset.who = this.#text(item.role)
		bubble.textContent = item.text
		if (!item.isGone) return
		bubble.remove()
		this.#elements.delete(item.id)
	}

	/** Changes the list, which stays at its end if that was in sight: a browser moves it while bubbles move. */
	#change(change) {
		// Whoever scrolls up is heard of a frame later.
		if (this.#list.scrollTop < this.#known.top) this.#scrolled()
		change()
		this.follow(this.#isPinned)
	}

	/** Puts a bubble where its item is in the transcript. */
	#place(item) {
		const { items } = this.transcript
		const [bubble, next] = [item, items[items.indexOf(item) + 1]].map(one => this.#elements.get(one?.id) ?? null)
		if (!bubble.isConnected || bubble.nextSibling !== next) this.#list.insertBefore(bubble, next)
	}

	follow(isWanted) {
		if (!isWanted) return
		this.#newest.hidden = this.#isPinned = true
		this.#list.scrollTop = 1e9
		this.#known = this.#view
	}

	/** Tells a screen reader whole sentences, once each: one is whole when the next one has begun. */
	#announce(item) {
		const { text } = item
		const told = this.#read.get(item) ?? 0
		const end = item.state === 'whole' ? text.length : [...sentences.segment(text)].at(-1).index
		if (end <= told) return
		this.#read.set(item, end)
		this.#said.textContent = text.slice(told, end).trim()
	}

	#scrolled() {
		const now = this.#view
		// A list of another size was moved by the browser, not by somebody who reads.
		const isResized = now.all !== this.#known.all || now.shown !== this.#known.shown
		if (this.#isPinned && isResized) return this.follow(true)
		this.#known = now
		this.#newest.hidden = this.#isPinned = now.all - now.top - now.shown < 48
	}

	get #view() {
		const { scrollTop: top, scrollHeight: all, clientHeight: shown } = this.#list
		return { top, all, shown }
	}
}
