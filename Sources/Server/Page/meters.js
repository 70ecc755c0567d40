// SPDX-License-Identifier: Apache-2.0
// The level of every node: RMS, peak and held peak on a scale, how often it clipped, and its loudness where that is measured.
import { h } from './dom.js'
import { typeText } from './nodes.js'

const calm = matchMedia('(prefers-reduced-motion: reduce)')
const decibels = level => 20 * Math.log10(level)
/** The place of a level on the scale, of 60 dB, from 0 to 1. */
const share = level => Math.max(0, Math.min(1, level / 60 + 1))
/** What stands on it; page.css says where. */
const marks = ['−60', '−48', '−36', '−24', '−12', '−6', '0']
/** EBU R 128; each is a series of a node that measures loudness, in LUFS. */
const loudness = [['lufs_m', 'momentary'], ['lufs_s', 'short-term'], ['lufs_i', 'integrated']]

/** What one channel shows. Bars rise at once and fall by 36 dB a second; the held peak stays for a second and a half. */
class Channel {
	#bars = [h('i'), h('i'), h('i', { class: 'held' })]
	element = h('div', { class: 'meter' }, ...this.#bars)
	#levels = [-99, -99]
	#heldAt = 0
	held = -99

	/** Takes the newest levels, of the clock of the page in ms; true while something of it moves. */
	draw(peak, rms, now, seconds) {
		this.#levels = [peak, rms].map((level, i) =>
			Math.max(decibels(level), calm.matches ? -99 : this.#levels[i] - 36 * seconds))
		if (decibels(peak) >= this.held) [this.held, this.#heldAt] = [decibels(peak), now]
		else if (now - this.#heldAt > 1500) this.held = Math.max(-99, this.held - 24 * seconds)
		const [top, body, held] = this.#bars
		top.style.clipPath = `inset(0 ${100 - share(this.#levels[0]) * 100}% 0 0)`
		body.style.clipPath = `inset(0 ${100 - share(this.#levels[1]) * 100}% 0 0)`
		held.style.left = `${share(this.held) * 100}%`
		return this.held > -60
	}
}

/** The panel of one node. */
class Row {
	#channels = []
	#clips = 0
	#isClipped = false
	#number = h('span', { class: 'quiet' })
	#loudness = h('p', { class: 'quiet' })
	#clip
	#box
	isKnown = false

	constructor(app, node) {
		const { name } = node
		Object.assign(this, { app, name })
		this.loudness = app.parts.measures(name, 'lufs_i') ? loudness.map(([series]) => `${name}.${series}`) : []
		this.#box = h('div', { role: 'meter', 'aria-label': `Level of ${name}`, 'aria-valuemin': -60, 'aria-valuemax': 0 })
		this.#clip = h('button', { class: 'clips', hidden: true, title: 'Since this view is open. Press to count anew.',
			onclick: () => this.#count(0) })
		this.element = h('div', { class: 'panel' },
			h('div', { class: 'head' }, h('h2', {}, name, h('small', {}, ` ${typeText(node)}`)), this.#clip, this.#number), this.#box,
			h('div', { class: 'scale', 'aria-hidden': 'true' }, ...marks.map(mark => h('span', {}, mark))), this.loudness.length ? this.#loudness : '')
		this.#channel(0)
		this.tell()
	}

	#channel(index) {
		const channel = this.#channels[index] ??= new Channel()
		if (!channel.element.parentNode) this.#box.append(channel.element)
		return channel
	}

	get #peaks() {
		return this.app.live.values(this.name, 'peak') ?? this.app.output(this.name) ?? []
	}

	#count(clips) {
		this.#clips = clips
		this.#clip.hidden = !clips
		this.#clip.textContent = `Clipped ${clips}×`
	}

	/** Looks at every level that comes: a clipped sample may be gone in the next picture. */
	look() {
		const isClipped = this.#peaks.some(peak => peak >= 0.9999)
		if (isClipped && !this.#isClipped) this.#count(this.#clips + 1)
		this.#isClipped = isClipped
	}

	/** True while something of it moves. */
	draw(now, seconds, tells) {
		const peaks = this.#peaks
		const means = this.app.live.values(this.name, 'rms') ?? peaks
		let moves = false
		peaks.forEach((peak, i) => { if (this.#channel(i).draw(peak, means[i], now, seconds)) moves = true })
		// That something is silent is known as soon as its first level is.
		if (tells || this.isKnown !== peaks.length > 0) {
			this.isKnown = peaks.length > 0
			this.tell()
		}
		return moves
	}

	/** Says in words what is drawn. */
	tell() {
		const { app, name } = this
		const held = Math.max(...this.#channels.map(channel => channel.held))
		const level = !this.isKnown ? 'not measured' : held > -60 ? `${held > 0.05 ? '+' : ''}${held.toFixed(1)} dBFS` : 'silent'
		this.#number.textContent = this.#box.ariaValueText = app.parts?.node(name)?.mute ? `${level}, muted` : level
		this.#box.ariaValueNow = Math.round(Math.max(-60, Math.min(0, held)))
		this.#loudness.textContent = loudness.map(([series, what]) => {
			const value = app.live.values(name, series)?.[0]
			return `${value > -99 ? value.toFixed(1) : '–'} ${what}`
		}).join(', ') + ' LUFS'
	}
}

export function meters(app) {
	const { find, live } = app
	let rows = []
	let [asked, drawnAt, toldAt] = [false, 0, 0]

	function draw() {
		const now = performance.now()
		const seconds = Math.min(0.3, (now - drawnAt) / 1000)
		const tells = now - toldAt > 500
		asked = false
		drawnAt = now
		if (tells) toldAt = now
		const moves = rows.filter(row => row.draw(now, seconds, tells)).length > 0
		if (moves || now - toldAt < 500 && !tells) wake()
	}

	function wake() {
		if (asked || find('meters').hidden) return
		asked = true
		if (calm.matches) setTimeout(draw, 250)
		else requestAnimationFrame(draw)
	}

	const ask = () => live.ask('meters', ['output', ...rows.flatMap(row => row.loudness)])
	return {
		changed({ nodes }) {
			wake()
			const heard = nodes.filter(({ ports }) => ports.some(({ kind }) => kind === 'audio'))
			const sign = list => list.map(({ name }) => name).join()
			if (sign(heard) === sign(rows)) return
			rows = heard.map(node => new Row(app, node))
			find('meters').replaceChildren(...rows.map(({ element }) => element))
			if (!find('meters').hidden) ask()
		},
		enter() {
			ask()
			wake()
		},
		leave: () => live.ask('meters', []),
		levels() {
			for (const row of rows) row.look()
			const isLoud = live.rows.some(({ values }) => values[0] > 0.001)
			if (isLoud || rows.some(({ name, isKnown }) => !isKnown && live.values(name, 'output')?.length)) wake()
		},
	}
}
