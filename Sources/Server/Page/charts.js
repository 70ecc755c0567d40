// SPDX-License-Identifier: Apache-2.0
// Pictures of what is measured, as the terminal draws them: `take` takes the newest numbers of a node and says whether there
// is something else to see, `draw` draws it. Only who shows one loads this.
import { Clock, rising, thin, trace, upwards } from './drawing.js'
import { Spectrogram, Spectrum } from './frequencies.js'

/** Pictures of samples fill their height: what is quieter is enlarged, eightfold at most, soon down and slowly up. */
class Range {
	#top = 1

	factor(peak, passed) {
		this.#top = Math.max(peak, this.#top * Math.exp(-passed / 1.5), 1 / 8)
		return 0.9 / this.#top
	}
}

const peakOf = values => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0)

/** Samples one after another. */
class Scope {
	#clock = new Clock()
	#range = new Range()
	#samples = []

	take(live, node) {
		const samples = live.values(node, 'scope')
		const passed = this.#clock.passed(live)
		if (!passed || !samples?.length) return false
		const peak = peakOf(samples)
		const isNews = peak > 0 || peakOf(this.#samples) > 0 || this.#samples.length !== samples.length
		const factor = this.#range.factor(peak, passed)
		this.#samples = Array.from(samples, sample => sample * factor)
		return isNews
	}

	draw(context, width, height, face) {
		const [middle, line] = [height / 2, thin(width, height)]
		const colors = rising(face)
		// Brighter the farther it is from the middle.
		const stroke = context.createLinearGradient(0, 0, 0, height)
		for (const [at, share] of [[0, 1], [0.5, 0.35], [1, 1]]) stroke.addColorStop(at, colors.at(share))
		const y = sample => middle - Math.min(1, Math.max(-1, sample)) * (middle - line / 2)
		context.lineJoin = 'round'
		for (const [list, color, alpha, thickness] of [[[middle, middle], colors.at(0.35), 0.35, line / 2], [this.#samples.map(y), stroke, 1, line]]) {
			context.strokeStyle = color
			context.globalAlpha = alpha
			context.lineWidth = thickness
			trace(context, list, width)
			context.stroke()
		}
		context.globalAlpha = 1
	}
}

/** What both channels have stands upright, what one has lies on its diagonal, what is inverted lies across; below it the
 * correlation. */
class Goniometer {
	#clock = new Clock()
	#range = new Range()
	/** Of the last tenth of a second. */
	#frames = []

	take(live, node) {
		const pairs = live.values(node, 'goniometer')
		const passed = this.#clock.passed(live)
		if (!passed || !pairs?.length) return false
		const points = Array.from({ length: pairs.length / 2 }, (_, i) => [pairs[2 * i], pairs[2 * i + 1]])
		const peak = peakOf(points.map(point => Math.hypot(...point)))
		const isNews = peak > 0 || this.#frames.some(({ peak }) => peak > 0)
		const factor = this.#range.factor(peak, passed)
		this.#frames = [...this.#frames.slice(-5), { peak, points: points.map(point => point.map(value => value * factor)) }]
		this.correlation = live.values(node, 'correlation')?.[0]
		return isNews || this.#frames.length < 6
	}

	draw(context, width, height, face) {
		const size = Math.min(width, height)
		const colors = rising(face)
		const [x, y, radius] = [width / 2, height / 2 - size * 0.03, size * 0.44]
		const line = (thickness, color, alpha, ...points) => {
			Object.assign(context, { lineWidth: thickness, strokeStyle: color, globalAlpha: alpha, lineCap: 'round' })
			context.beginPath()
			for (const point of points) context.lineTo(...point)
			context.stroke()
		}
		const diagonal = radius * Math.SQRT1_2
		for (const side of [-diagonal, diagonal]) {
			line(Math.max(1, size / 160), colors.at(0.5), 0.3, [x + side, y - diagonal], [x - side, y + diagonal])
		}
		const points = this.#frames.flatMap(({ points }) => points)
		const dot = Math.max(0.7, size / 200)
		// The oldest first and faintest.
		points.forEach(([side, middle], i) => {
			const age = (i + 1) / points.length
			if (i % 100 === 0) context.fillStyle = colors.at(0.3 + 0.7 * age)
			context.globalAlpha = 0.15 + 0.75 * age * age
			context.fillRect(x + side * radius - dot, y - middle * radius - dot, 2 * dot, 2 * dot)
		})
		const [low, half, thick] = [height / 2 + size * 0.465, size * 0.3, Math.max(1, size / 80)]
		line(thick / 2, colors.at(0.5), 0.3, [x - half, low], [x + half, low])
		if (this.correlation !== undefined) {
			const place = x + Math.min(1, Math.max(-1, this.correlation)) * half
			line(thick, colors.at(0.7), 1, [x, low], [place, low])
			line(2 * thick, colors.loud, 1, [place, low], [place, low])
		}
		context.globalAlpha = 1
	}
}

/** The last twenty seconds from -50 to -5 LUFS: momentary as an area, short-term as a line, the target of EBU R 128 dashed,
 * integrated as a mark at the right. */
class Loudness {
	static count = 300
	#clock = new Clock()
	#past = []
	/** Points of the time that has passed. */
	#due = 1
	#silent = 0

	take(live, node) {
		const [now, short = -70, integrated = -70] = ['lufs_m', 'lufs_s', 'lufs_i'].map(series => live.values(node, series)?.[0])
		const passed = this.#clock.passed(live)
		if (!passed || now === undefined) return false
		// Four frames become one of what is kept: the loudest.
		for (this.#due += 15 * passed; this.#due >= 1; this.#due--) {
			this.#past = [...this.#past.slice(1 - Loudness.count), { now, short }]
		}
		const last = this.#past.at(-1)
		Object.assign(last, { now: Math.max(last.now, now), short })
		this.integrated = integrated
		this.#silent = now > -70 ? 0 : this.#silent + 15 * passed
		return this.#silent <= Loudness.count
	}

	draw(context, width, height, face) {
		const line = thin(width, height)
		const colors = rising(face)
		const y = loudness => height - line / 2 - Math.min(1, Math.max(0, (loudness + 50) / 45)) * (height - line)
		context.strokeStyle = context.fillStyle = colors.loud
		context.globalAlpha = 0.5
		context.lineWidth = line / 2
		context.setLineDash([width / 40, width / 40])
		trace(context, [y(-23), y(-23)], width)
		context.stroke()
		context.setLineDash([])
		const left = width * (1 - this.#past.length / Loudness.count)
		trace(context, this.#past.map(({ now }) => y(now)), width, left)
		context.lineTo(width, height)
		context.lineTo(left, height)
		context.globalAlpha = 0.6
		context.fillStyle = upwards(context, height, colors)
		context.fill()
		context.globalAlpha = 1
		context.lineWidth = line
		context.lineJoin = 'round'
		trace(context, this.#past.map(({ short }) => y(short)), width, left)
		context.stroke()
		if (this.integrated > -70) {
			context.fillStyle = colors.at(0.85)
			context.fillRect(width * 15 / 16, y(this.integrated) - line, width / 16, 2 * line)
		}
	}
}

/** By their styles. */
export const charts = { spectrum: Spectrum, spectrogram: Spectrogram, scope: Scope, goniometer: Goniometer, loudness: Loudness }
