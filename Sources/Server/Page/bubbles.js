// SPDX-License-Identifier: Apache-2.0
// What was said, as bubbles in a list.
import { h } from './dom.js'
import { Transcript } from './transcript.js'

/** A list that follows its newest bubble, unless somebody has scrolled up to read. */
export class Bubbles {
	transcript = new Transcript()
	#list
	#newest
	#said
	#told
	#elements = new Map()
	/** What was typed here and has not come back yet. */
	#echoes = []
	#isPinned = true

	/** `said` is read out by screen readers; `told` takes each item that changed. */
	constructor({ transcript: list, newest, said }, told) {
		[this.#list, this.#newest, this.#said, this.#told] = [list, newest, said, told]
		list.onscroll = () => this.#scrolled()
		newest.onclick = () => this.follow(true)
	}

	/** Whether the newest bubble is in sight. */
	get isPinned() {
		return this.#isPinned
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

	/** What was typed here has come back, and goes by its own number from now on. */
	returned(text, id) {
		const echo = this.#echoes.find(other => other.text === text)
		if (!echo) return
		this.#echoes = this.#echoes.filter(other => other !== echo)
		this.#elements.set(id, this.#elements.get(echo.id))
		this.transcript.items.find(other => other.id === echo.id).id = id
	}

	/** Takes a text as a transcript does. */
	put(given) {
		const item = this.transcript.put(given)
		if (!item) return
		let bubble = this.#elements.get(item.id)
		if (!bubble) {
			const { items } = this.transcript
			bubble = h('li')
			this.#elements.set(item.id, bubble)
			this.#list.insertBefore(bubble, this.#elements.get(items[items.indexOf(item) + 1]?.id) ?? null)
		}
		bubble.className = `${item.role} ${item.state}`
		bubble.part = `bubble ${item.role}-bubble`
		bubble.textContent = item.text
		if (item.isGone) {
			bubble.remove()
			this.#elements.delete(item.id)
		} else if (item.role === 'agent') this.#announce(item)
		this.follow(this.#isPinned)
		this.#told({ ...item })
	}

	follow(isWanted) {
		if (isWanted) this.#list.scrollTop = 1e9
	}

	/** Tells a screen reader whole sentences, once each. */
	#announce(item) {
		const { text, told = 0 } = item
		const end = item.state === 'whole' ? text.length : text.search(/[.!?…。]["'”’)]*[^.!?…。]*$/) + 1
		if (end > told) this.#said.textContent = text.slice(told, item.told = end).trim()
	}

	#scrolled() {
		const { scrollHeight, scrollTop, clientHeight } = this.#list
		this.#newest.hidden = this.#isPinned = scrollHeight - scrollTop - clientHeight < 48
	}
}
