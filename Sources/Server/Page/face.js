// SPDX-License-Identifier: Apache-2.0
// Pictures of a voice.
import { hex, isDark, legible, luminance, mix, presets } from './colors.js'

const curves = { linear: x => x, out: x => 1 - (1 - x) ** 1.7, inOut: x => x * x * (3 - 2 * x) }

/** A number on its way; times in seconds. */
class Ease {
	from = 0
	to = 0
	end = 0

	go(to, now, span, curve) {
		// What is measured of a steady sound differs by less, and would begin anew each time.
		if (Math.abs(to - this.to) >= 1e-4) Object.assign(this, { from: this.at(now), to, end: now + span, span, curve })
	}

	at(now) {
		const share = 1 - (this.end - now) / this.span
		return now >= this.end ? this.to : this.from + (this.to - this.from) * curves[this.curve](share)
	}
}

/** Bars on their way: each change is there after 150 ms, however often they change. */
class Bars {
	#steps = []

	go(values, now) {
		if (values.length !== this.#steps.at(-1)?.values.length) this.#steps = [{ values: values.map(() => 0), at: -1 }]
		if (values.every((value, i) => value === this.#steps.at(-1).values[i])) return
		this.#steps.push({ values, at: now })
		while (this.#steps[1].at < now - 0.15) this.#steps.shift()
	}

	at(now) {
		const come = step => step ? curves.inOut(Math.min(1, Math.max(0, (now - step.at) / 0.15))) : 0
		return this.#steps[0].values.map((_, i) => this.#steps.reduce(
			(sum, step, n) => sum + step.values[i] * (come(step) - come(this.#steps[n + 1])), 0))
	}

	isMoving(now) { return now < this.#steps.at(-1).at + 0.15 }
}

const calm = matchMedia('(prefers-reduced-motion: reduce)')
export const forced = matchMedia('(forced-colors: active)')
export const dark = matchMedia('(prefers-color-scheme: dark)')
/** Amplitude, alpha and width of each wave. */
const waves = [[0.7, 1, 1.5], [0.4, 0.867, 0.75], [0.1, 0.733, 0.5], [-0.2, 0.6, 0.375], [-0.5, 0.467, 0.3]]

/** A picture of a voice on a canvas: orb, bars, wave or meter. It draws only while something moves. */
export class Face {
	#level = new Ease()
	#view = new Ease()
	#flag = new Ease()
	#bars = new Bars()
	#loudAt = -1
	#drawnAt = 0
	#look = ''

	constructor(canvas) {
		this.canvas = canvas
		this.context = canvas.getContext('2d')
		new ResizeObserver(([{ contentRect: { width, height } }]) => {
			const ratio = Math.min(devicePixelRatio, 2)
			Object.assign(canvas, { width: width * ratio, height: height * ratio })
			this.#prepare()
		}).observe(canvas)
	}

	/** Style, two colours (undefined: those of the style), the colour behind, and what the node says of times and waves. */
	look(style, colors, ground, form = {}) {
		this.form = form
		if (this.#look === (this.#look = `${style} ${colors} ${ground}`)) return
		Object.assign(this, { style, colors, ground })
		this.#prepare()
	}

	/** What was measured: a level from 0 to 1, and bands where there are any. */
	take(level, bands) {
		const now = performance.now() / 1000
		if (level > 0.02) this.#loudAt = now
		this.bands = bands
		if (level === this.#level.to) return
		if (level === 0) this.#fade(now)
		else {
			this.#level.go(level, now, this.form.level_time ?? 0.05, 'linear')
			this.#view.go(level, now, this.form.view_time ?? 0.15, 'out')
		}
		this.#wake()
	}

	#fade(now) {
		for (const ease of [this.#level, this.#view]) ease.go(0, now, this.form.end_time ?? 0.25, 'linear')
	}

	#wake() {
		if (this.asked || !this.style || Math.min(this.canvas.width, this.canvas.height) < 20) return
		this.asked = true
		// Without motion it is drawn four times a second.
		if (calm.matches) setTimeout(this.#draw, Math.max(0, this.#drawnAt + 250 - performance.now()))
		else requestAnimationFrame(this.#draw)
	}

	#gradient(kind, place, ...colors) {
		const result = this.context[`create${kind}Gradient`](...place)
		colors.forEach((color, i) => result.addColorStop(i / (colors.length - 1), color))
		return result
	}

	#prepare() {
		if (!this.style) return
		const pair = this.colors ?? presets.verdant
		const { height } = this.canvas
		const [a, b] = pair.map(color => legible(color, this.ground))
		const [dim, bright] = [...pair].sort((a, b) => luminance(a) - luminance(b))
		this.edge = legible(isDark(this.ground) ? bright : dim, this.ground)
		// A gradient of the length 1, which is stretched to what is painted with it.
		this.fill = this.#gradient('Linear', [0, 0, 0, 1], pair[0], pair[1], pair[0])
		this.line = this.#gradient('Linear', [0, height * 0.2, 0, height * 0.8], a, b, a)
		const core = this.colors ? [bright, mix(dim, bright, 0.5), dim] : ['#64d2ff', '#0a84ff', '#bf5af2']
		const clear = (color, alpha) => color + hex([255 * alpha]).slice(1)
		const steps = color => Array.from({ length: 25 }, (_, i) => color(i / 24))
		this.core = this.#gradient('Radial', [0, 0, 10, 0, 0, 80], ...core)
		this.ring = this.#gradient('Conic', [0, 0, 0], ...[0.8, 0.3, 0.8, 0.8].map((alpha, i) => clear(core[i % 3], alpha)))
		// The edge of a blurred disc is close to a logistic curve; the light ends before the picture does.
		this.glow = this.#gradient('Radial', [0, 0, 0, 0, 0, 144], ...steps(at => {
			const share = Math.min(1, Math.max(0, (at * 144 - 61.5) / 48.5))
			return clear(mix(core[1], core[2], share), (0.6 - 0.5 * share) / (1 + Math.exp(0.0567 * (at * 144 - 80))))
		}))
		this.veil = this.#gradient('Radial', [0, 0, 80, 0, 0, 144], ...steps(at => clear('#000000', (1 - at) ** 2 * (1 + 2 * at))))
		this.#wake()
	}

	#draw = () => {
		const now = performance.now() / 1000
		const { context, canvas: { width, height } } = this
		const isActive = now - this.#loudAt < 0.5
		this.asked = false
		this.#drawnAt = now * 1000
		if (!isActive) this.#fade(now)
		this.#flag.go(Number(isActive), now, this.form.speaking_time ?? 0.6, 'inOut')
		context.setTransform(1, 0, 0, 1, 0, 0)
		context.clearRect(0, 0, width, height)
		context.strokeStyle = this.edge
		if (Math.min(width, height) < 20) return
		let moves = isActive || now < Math.max(this.#level.end, this.#view.end, this.#flag.end)
		const level = Math.min(1, calm.matches ? this.#level.to : this.#level.at(now))
		if (calm.matches || this.style === 'meter') this.#drawMeter(level, width, height)
		else if (this.style === 'orb') this.#drawOrb(Math.min(1, this.#view.at(now)), this.#flag.at(now), now, width, height)
		else if (this.style === 'wave') this.#drawWave(level, now, width, height)
		else moves = this.#drawBars(level, now, width, height) || moves
		if (moves) this.#wake()
	}

	/** In pixels of an orb that is 160 wide; 288 of them have room for the ring of a loud voice. */
	#drawOrb(level, flag, now, width, height) {
		const { context } = this
		const unit = Math.min(width, height) / 288
		const place = scale => context.setTransform(scale * unit, 0, 0, scale * unit, width / 2, height / 2)
		const disc = (radius, fill, alpha) => {
			context.beginPath()
			context.arc(0, 0, radius, 0, 7)
			context.globalAlpha = alpha
			context.fillStyle = context.strokeStyle = fill
		}
		const core = 0.85 + 0.5 * level
		place(core * 1.3)
		disc(144, this.glow, flag * (0.3 + 0.7 * level))
		context.fill()
		context.globalCompositeOperation = 'destination-in'
		place(1)
		disc(144, this.veil, 1)
		context.fill()
		context.globalCompositeOperation = 'source-over'
		place(core)
		disc(80, this.core, 1)
		context.fill()
		disc(80, '#fff', 0.4)
		context.lineWidth = 2
		context.stroke()
		place(0.9 + flag * (0.1 + 0.7 * level))
		context.rotate(now * 1.2566)
		disc(80, this.ring, 0.8 * flag)
		context.lineWidth = 3
		context.stroke()
		context.globalAlpha = 1
	}

	#drawBars(level, now, width, height) {
		const { context, bands } = this
		const count = bands?.length || 10
		const targets = Array.from({ length: count }, (_, i) => {
			const value = bands ? bands[i] : level * (1 - 0.6 * i / (count - 1))
			return value > 0.05 ? Math.min(1, value) : 0
		})
		this.#bars.go(targets, now)
		const shown = this.#bars.at(now)
		const size = Math.min(height, width / 1.4)
		const [gap, line] = [Math.max(size / 40, 4), Math.max(size / 80, 2)]
		const wide = (Math.min(width - line, size * 1.4) - gap * (count - 1)) / count
		let left = (width - (wide + gap) * count + gap) / 2
		context.lineWidth = line
		context.fillStyle = this.fill
		for (let i = 0; i < count; i++, left += wide + gap) {
			const tall = Math.max(wide, (bands || level ? 0.2 + 0.6 * shown[i] : 0.3) * height)
			context.setTransform(1, 0, 0, 1, 0, 0)
			context.beginPath()
			context.roundRect(left, (height - tall) / 2, Math.max(0, wide), tall, Math.max(0, wide / 2))
			context.stroke()
			context.setTransform(1, 0, 0, tall, 0, (height - tall) / 2)
			context.fill()
		}
		return this.#bars.isMoving(now)
	}

	#drawWave(level, now, width, height) {
		const { context } = this
		const { frequency = 1.5, density = 1, follow = false } = this.form
		const step = Math.max(density * width / this.canvas.clientWidth || 1, width / 1000)
		const periods = frequency * (follow ? 6 ** (this.#brightness() - 0.5) : 1)
		context.strokeStyle = this.line
		for (const [amplitude, alpha, thickness] of waves) {
			context.globalAlpha = alpha
			context.lineWidth = thickness * Math.max(height / 100, 2)
			context.beginPath()
			for (let x = 0; x <= width + step; x += step) {
				const arch = 1 - (2 * x / width - 1) ** 2
				context.lineTo(x, height / 2 * (1 + arch * level * amplitude * Math.sin(2 * Math.PI * periods * x / width - 15 * now)))
			}
			context.stroke()
		}
		context.globalAlpha = 1
	}

	/** Where the middle of the power of the bands lies: 0 in the lowest, 1 in the highest. */
	#brightness() {
		const powers = (this.bands ?? []).map(value => value * value)
		const sum = powers.reduce((a, b) => a + b, 0)
		return sum > 1e-6 ? powers.reduce((a, power, i) => a + power * i, 0) / (sum * (powers.length - 1)) : 0.5
	}

	#drawMeter(level, width, height) {
		const { context } = this
		const [tall, long] = [Math.min(height * 0.3, 40), width * 0.8]
		context.translate(width * 0.1, (height - tall) / 2)
		context.fillStyle = this.edge
		context.lineWidth = 3
		context.beginPath()
		context.roundRect(0, 0, long, tall, tall / 2)
		context.stroke()
		context.beginPath()
		context.roundRect(tall / 4, tall / 4, (long - tall / 2) * level, tall / 2, tall / 4)
		context.fill()
	}
}
