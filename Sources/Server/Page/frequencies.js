// SPDX-License-Identifier: Apache-2.0
// Pictures of the frequencies: spectrum and spectrogram.
import { isDark, mix } from './colors.js'
import { Clock, rising, thin, trace, upwards } from './drawing.js'

/** Levels from 20 Hz to half the rate in equal ratios, in dBFS. */
class Rows {
	static count = 256
	#edges = []

	of(bins, rate) {
		if (this.bins !== bins.length || this.rate !== rate) {
			Object.assign(this, { bins: bins.length, rate })
			const [low, high] = [20, rate / 2]
			this.#edges = Array.from({ length: Rows.count + 1 }, (_, i) => low * (high / low) ** (i / Rows.count) / high * (bins.length - 1))
		}
		return Float32Array.from({ length: Rows.count }, (_, row) => {
			const [start, end] = [this.#edges[row], this.#edges[row + 1]]
			// Between two bins it is what lies on the way from one to the other.
			const middle = (start + end) / 2
			const first = Math.min(Math.floor(middle), bins.length - 2)
			let level = bins[first] + (bins[first + 1] - bins[first]) * (middle - first)
			for (let bin = Math.ceil(start); bin <= end; bin++) level = Math.max(level, bins[bin])
			return Math.max(level, -140)
		})
	}
}

const rateOf = live => live.last('', 'status')?.rate ?? 48000
const silence = -139

/** An area that falls by 60 dB a second, and a line where it was at most, which waits for a second and a half. */
export class Spectrum {
	#clock = new Clock()
	#rows = new Rows()
	#levels = new Float32Array(Rows.count).fill(-140)
	#held = new Float32Array(Rows.count).fill(-140)
	#heldFor = new Float32Array(Rows.count)

	take(live, node) {
		const bins = live.values(node, 'spectrum')
		const passed = this.#clock.passed(live)
		if (!passed || !(bins?.length > 1)) return false
		const now = this.#rows.of(bins, rateOf(live))
		let isSeen = false
		now.forEach((level, row) => {
			this.#levels[row] = Math.max(level, this.#levels[row] - 60 * passed)
			this.#heldFor[row] += passed
			if (this.#levels[row] >= this.#held[row]) [this.#held[row], this.#heldFor[row]] = [this.#levels[row], 0]
			else if (this.#heldFor[row] > 1.5) this.#held[row] = Math.max(this.#levels[row], this.#held[row] - 24 * passed)
			isSeen ||= this.#held[row] > silence
		})
		return isSeen
	}

	draw(context, width, height, face) {
		const line = thin(width, height)
		const colors = rising(face)
		// From -96 to 0 dBFS; the line stays inside.
		const ys = levels => Array.from(levels, level => height - line / 2 - Math.min(1, Math.max(0, 1 + level / 96)) * (height - line))
		const now = ys(this.#levels)
		context.lineJoin = 'round'
		context.fillStyle = upwards(context, height, colors)
		trace(context, now, width)
		context.lineTo(width, height)
		context.lineTo(0, height)
		context.globalAlpha = 0.75
		context.fill()
		context.strokeStyle = colors.loud
		for (const [list, alpha, thickness] of [[ys(this.#held), 0.45, line / 2], [now, 1, line]]) {
			context.globalAlpha = alpha
			context.lineWidth = thickness
			trace(context, list, width)
			context.stroke()
		}
		context.globalAlpha = 1
	}
}

/** The last eight seconds; now is at the right. */
export class Spectrogram {
	static columns = 480
	static own = ['#08061a', '#3b1173', '#8e1f7a', '#de4a5a', '#ff9e45', '#fff4b8']
	#clock = new Clock()
	#rows = new Rows()
	#canvas = Object.assign(document.createElement('canvas'), { width: Spectrogram.columns, height: Rows.count })
	#context = this.#canvas.getContext('2d')
	#column = this.#context.createImageData(1, Rows.count)
	/** Levels of columns that have no colours yet. */
	#news = []
	/** Columns of the time that has passed. */
	#due = 0
	#silent = Infinity

	take(live, node) {
		const bins = live.values(node, 'spectrum')
		const passed = this.#clock.passed(live)
		if (!passed || !(bins?.length > 1)) return false
		const now = this.#rows.of(bins, rateOf(live))
		this.#silent = now.some(level => level > silence) ? 0 : this.#silent + 60 * passed
		if (this.#silent > Spectrogram.columns) return false
		for (this.#due += 60 * passed; this.#due >= 1; this.#due--) this.#news.push(now)
		this.#news = this.#news.slice(-Spectrogram.columns)
		return this.#news.length > 0
	}

	draw(context, width, height, face) {
		const table = this.#table(face)
		const news = this.#news.splice(0)
		const own = this.#context
		own.globalCompositeOperation = 'copy'
		if (news.length) own.drawImage(this.#canvas, -news.length, 0)
		news.forEach((levels, i) => {
			levels.forEach((level, row) => {
				// From -110 dBFS, which cannot be seen, to -20.
				const at = 4 * Math.round(255 * Math.min(1, Math.max(0, (level + 110) / 90)))
				this.#column.data.set(table.subarray(at, at + 4), 4 * (Rows.count - 1 - row))
			})
			own.putImageData(this.#column, Spectrogram.columns - news.length + i, 0)
		})
		context.drawImage(this.#canvas, 0, 0, width, height)
	}

	/** The colours of 256 levels; what is quiet lets the ground through. */
	#table(face) {
		const key = `${face.colors} ${face.ground}`
		if (this.key === key) return this.table
		this.key = key
		const { quiet, loud } = rising(face)
		const stops = face.colors ? [quiet, loud] : isDark(face.ground) ? Spectrogram.own : Spectrogram.own.toReversed()
		this.table = new Uint8ClampedArray(1024)
		for (let level = 0; level < 256; level++) {
			const at = level / 255 * (stops.length - 1)
			const first = Math.min(Math.floor(at), stops.length - 2)
			const color = parseInt(mix(stops[first], stops[first + 1], at - first).slice(1), 16)
			this.table.set([color >> 16, color >> 8 & 255, color & 255, Math.min(255, level * 3)], 4 * level)
		}
		return this.table
	}
}
