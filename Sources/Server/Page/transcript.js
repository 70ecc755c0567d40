// SPDX-License-Identifier: Apache-2.0
// What was said, and how loud it is shown.

/** What was said, in order of time; each item once. */
export class Transcript {
	items = []

	/** Takes a text: `text` replaces, `delta` is appended, a blank whole one takes back. What changed, if anything. */
	put({ id, role, text, delta = '', time = 0, state = 'whole' }) {
		const { items } = this
		const known = items.find(item => item.id === id)
		const now = text ?? (known?.text ?? '') + delta
		if (!now.trim()) {
			if (!known || state === 'partial') return undefined
			items.splice(items.indexOf(known), 1)
			return Object.assign(known, { isGone: true })
		}
		if (known?.text === now && known.state === state) return undefined
		const item = Object.assign(known ?? { id, role, time }, { text: now, state })
		if (!known) this.#insert(item)
		return item
	}

	/** Gives a known item another id and time. */
	retime(id, newId, time) {
		const { items } = this
		const [item] = items.splice(items.findIndex(item => item.id === id), 1)
		this.#insert(Object.assign(item, { id: newId, time }))
		return item
	}

	#insert(item) {
		const { items } = this
		items.splice(items.findLastIndex(other => other.time <= item.time) + 1, 0, item)
	}
}

/** The level that is shown 200 ms after `before`: quickly up, slower down. */
export function smooth(before, input) {
	const raw = Math.min(1, 4 * input)
	return raw > before ? 0.1 * before + 0.9 * raw : 0.4 * before + 0.6 * raw
}
