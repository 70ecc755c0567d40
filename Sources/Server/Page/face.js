// SPDX-License-Identifier: Apache-2.0
// Pictures of a voice.
import { hex, isDark, legible, luminance, mix, presets } from './colors.js'
import { Bars, Ease } from './ease.js'

/** Styles that are drawn from what is measured, and the series for that. */
export const measured = { spectrum: ['spectrum'], spectrogram: ['spectrum'], scope: ['scope'],
	goniometer: ['goniometer', 'correlation'], loudness: ['lufs_m', 'lufs_s', 'lufs_i'] }
export const styles = ['orb', 'bars', 'wave', 'meter', ...Object.keys(measured)]
const calm = matchMedia('(prefers-reduced-motion: reduce)')
export const forced = matchMedia('(forced-colors: active)')
export const dark = matchMedia('(prefers-color-scheme: dark)')
/** Amplitude, alpha and width of each wave. */
const waves = [[0.7, 1, 1.5], [0.4, 0.867, 0.75], [0.1, 0.733, 0.5], [-0.2, 0.6, 0.375], [-0.5, 0.467, 0.3]]

/** A picture of a voice on a canvas, in one of the styles. It draws only while something moves. */
export class Face {
	#level = new Ease()
	#view = new Ease()
	#flag = new Ease()
	/** Whether it is the user who is shown, and whether it thinks. */
	#heard = new Ease()
	#thought = new Ease()
	#isHeard = false
	#isThinking = false
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
		if (style !== this.style) this.chart = undefined
		Object.assign(this, { style, colors, ground })
		// Only who shows it loads it, and tries again with the next look.
		const again = () => (this.#look = undefined)
		if (style === 'orb') import('./orb.js').then(({ drawOrb }) => (this.drawOrb = drawOrb), again)
		else if (measured[style] && !this.chart) {
			import('./charts.js').then(({ charts }) => {
				if (style !== this.style) return
				this.chart ??= new charts[style]()
				this.#wake()
			}, again)
		}
		this.#prepare()
	}

	/** What a picture of measurements is drawn from: the newest numbers of a node. */
	measure(live, node) {
		if (this.chart?.take(live, node)) this.#wake()
	}

	/** Whether it thinks, which is seen. */
	think(isThinking) {
		if (isThinking === this.#isThinking) return
		this.#isThinking = isThinking
		this.#wake()
	}

	/** What was measured: a level from 0 to 1, bands where there are any, and whether it is the user who is heard. */
	take(level, bands, isHeard = false) {
		const now = performance.now() / 1000
		if (isHeard !== this.#isHeard) this.#wake()
		this.#isHeard = isHeard
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
		// What is heard has the same colours the other way round.
		this.fills = [[0, 1, 0], [1, 0, 1]].map(order => this.#gradient('Linear', [0, 0, 0, 1], ...order.map(at => pair[at])))
		this.lines = [[a, b, a], [b, a, b]].map(colors => this.#gradient('Linear', [0, height * 0.2, 0, height * 0.8], ...colors))
		const core = this.colors ? [bright, mix(dim, bright, 0.5), dim] : ['#64d2ff', '#0a84ff', '#bf5af2']
		const clear = (color, alpha) => color + hex([255 * alpha]).slice(1)
		const steps = color => Array.from({ length: 25 }, (_, i) => color(i / 24))
		this.cores = core
		this.user = legible(core[2], this.ground)
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
		const isThinking = this.#isThinking && !calm.matches
		this.asked = false
		this.#drawnAt = now * 1000
		if (!isActive) this.#fade(now)
		this.#flag.go(Number(isActive), now, this.form.speaking_time ?? 0.6, 'inOut')
		this.#heard.go(Number(this.#isHeard), now, 0.3, 'inOut')
		this.#thought.go(Number(isThinking), now, 0.3, 'inOut')
		context.setTransform(1, 0, 0, 1, 0, 0)
		context.clearRect(0, 0, width, height)
		context.strokeStyle = this.edge
		if (Math.min(width, height) < 20) return
		// Without motion all of it is as it will be.
		const eases = [this.#level, this.#view, this.#flag, this.#heard, this.#thought]
		const [level, view, flag, heard, thought] = eases.map(ease => Math.min(1, calm.matches ? ease.to : ease.at(now)))
		let moves = isActive || isThinking || eases.some(ease => now < ease.end)
		const time = calm.matches ? 0 : now
		if (this.chart) moves = this.chart.draw(context, width, height, this)
		else if (this.style === 'meter') this.#drawMeter(level, heard, thought, time, width, height)
		else if (this.style === 'orb') this.#drawOrb(view, flag, heard, thought, time, width, height)
		else if (this.style === 'wave') this.#drawWave(level, heard, thought, time, width, height)
		else if (this.style === 'bars') moves = this.#drawBars(level, heard, thought, now, width, height) || moves
		if (moves) this.#wake()
	}

	/** Paints with the colours of the voice, and over them with those of the user as far as it is heard. */
	#paint(heard, kinds, paint, alpha = 1) {
		for (const [i, kind] of kinds.entries()) {
			this.context.globalAlpha = alpha * (i ? heard : 1)
			if (this.context.globalAlpha) paint(kind)
		}
		this.context.globalAlpha = 1
	}

	/** In pixels of an orb that is 160 wide; 288 of them have room for the ring of a loud voice. What is heard is a ring around
	 * it, what it thinks a part of one that goes round. */
	#drawOrb(view, shown, heard, thought, now, width, height) {
		const { context } = this
		const [level, flag] = [view * (1 - heard), shown * (1 - heard)]
		const unit = Math.min(width, height) / 288
		const place = scale => context.setTransform(scale * unit, 0, 0, scale * unit, width / 2, height / 2)
		const disc = (radius, fill, alpha, part = 7) => {
			context.beginPath()
			context.arc(0, 0, radius, 0, part)
			context.globalAlpha = alpha
			context.fillStyle = context.strokeStyle = fill
		}
		const core = 0.85 + 0.5 * level
		const ring = (scale, fill, alpha, part) => {
			place(scale)
			context.rotate(now * (part ? 4 : 1.2566))
			disc(80, fill, alpha, part)
			context.lineWidth = 3
			if (alpha) context.stroke()
		}
		const around = 0.85 + 0.1 * shown + 0.75 * view
		place(around)
		disc(80, this.user, 0.15 * heard * shown)
		context.fill()
		place(1)
		context.globalAlpha = 1
		if (!this.drawOrb?.(context, Math.round(288 * unit), core, flag * (0.3 + 0.7 * level), Math.max(flag, thought), now, this.cores)) {
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
		}
		ring(0.9 + flag * (0.1 + 0.7 * level), this.ring, 0.8 * flag)
		ring(around, this.user, 0.9 * heard * shown)
		ring(1, this.user, 0.9 * thought, 1.6)
		context.globalAlpha = 1
	}

	#drawBars(level, heard, thought, now, width, height) {
		const { context, bands } = this
		const count = bands?.length || 10
		const targets = Array.from({ length: count }, (_, i) => {
			// Of the user there is a level alone: as an arch.
			const value = bands ? bands[i] : level * (heard ? 1 - 0.8 * (2 * i / (count - 1) - 1) ** 2 : 1 - 0.6 * i / (count - 1))
			return value > 0.05 ? Math.min(1, value) : 0
		})
		this.#bars.go(targets, now)
		const shown = calm.matches ? targets : this.#bars.at(now)
		const size = Math.min(height, width / 1.4)
		const [gap, line] = [Math.max(size / 40, 4), Math.max(size / 80, 2)]
		const wide = (Math.min(width - line, size * 1.4) - gap * (count - 1)) / count
		let left = (width - (wide + gap) * count + gap) / 2
		context.lineWidth = line
		for (let i = 0; i < count; i++, left += wide + gap) {
			const passing = 0.6 * thought * Math.max(0, Math.cos(6.28 * (i / count - 0.7 * now))) ** 3
			const tall = Math.max(wide, Math.max(bands || level ? 0.2 : 0.3, 0.2 + 0.6 * Math.max(shown[i], passing)) * height)
			context.setTransform(1, 0, 0, 1, 0, 0)
			context.beginPath()
			context.roundRect(left, (height - tall) / 2, Math.max(0, wide), tall, Math.max(0, wide / 2))
			context.stroke()
			context.setTransform(1, 0, 0, tall, 0, (height - tall) / 2)
			this.#paint(heard, this.fills, fill => {
				context.fillStyle = fill
				context.fill()
			})
		}
		return this.#bars.isMoving(now)
	}

	#drawWave(loud, heard, thought, now, width, height) {
		const { context } = this
		const level = Math.max(loud, 0.2 * thought)
		const { frequency = 1.5, density = 1, follow = false } = this.form
		const step = Math.max(density * width / this.canvas.clientWidth || 1, width / 1000)
		const periods = frequency * (follow ? 6 ** (this.#brightness() - 0.5) : 1)
		for (const [amplitude, alpha, thickness] of waves) {
			context.lineWidth = thickness * Math.max(height / 100, 2)
			context.beginPath()
			for (let x = 0; x <= width + step; x += step) {
				const arch = 1 - (2 * x / width - 1) ** 2
				context.lineTo(x, height / 2 * (1 + arch * level * amplitude * Math.sin(2 * Math.PI * periods * x / width - 15 * now)))
			}
			this.#paint(heard, this.lines, line => {
				context.strokeStyle = line
				context.stroke()
			}, alpha)
		}
	}

	/** Where the middle of the power of the bands lies: 0 in the lowest, 1 in the highest. */
	#brightness() {
		const powers = (this.bands ?? []).map(value => value * value)
		const sum = powers.reduce((a, b) => a + b, 0)
		return sum > 1e-6 ? powers.reduce((a, power, i) => a + power * i, 0) / (sum * (powers.length - 1)) : 0.5
	}

	#drawMeter(level, heard, thought, now, width, height) {
		const { context } = this
		const [tall, long] = [Math.min(height * 0.3, 40), width * 0.8]
		context.translate(width * 0.1, (height - tall) / 2)
		context.lineWidth = 3
		context.beginPath()
		context.roundRect(0, 0, long, tall, tall / 2)
		context.stroke()
		const bar = (left, share) => {
			context.beginPath()
			context.roundRect(tall / 4 + (long - tall / 2) * left, tall / 4, (long - tall / 2) * share, tall / 2, tall / 4)
			this.#paint(heard, [this.edge, this.user], color => {
				context.fillStyle = color
				context.fill()
			})
		}
		bar(0, level)
		if (thought) bar(0.42 + 0.42 * Math.sin(2.5 * now), 0.16 * thought)
	}
}
