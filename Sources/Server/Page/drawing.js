// SPDX-License-Identifier: Apache-2.0
// What pictures of measurements have in common.
import { isDark, luminance, mix } from './colors.js'

/** The colours of a face from quiet to loud, which is what stands out from its ground. */
export function rising({ colors, ground }, own = ['#036b5b', '#d3ffa6']) {
	const pair = [...colors ?? own].sort((a, b) => luminance(a) - luminance(b))
	const [quiet, loud] = isDark(ground) ? pair : pair.reverse()
	return { quiet, loud, at: share => mix(quiet, loud, share) }
}

/** A gradient up the picture. */
export function upwards(context, height, { quiet, loud }) {
	const fill = context.createLinearGradient(0, height, 0, 0)
	fill.addColorStop(0, quiet)
	fill.addColorStop(1, loud)
	return fill
}

export const thin = (width, height) => Math.max(1, Math.min(width, height) / 80)

/** A line through points, from left to right. */
export function trace(context, ys, width, left = 0) {
	context.beginPath()
	ys.forEach((y, i) => context.lineTo(left + (ys.length > 1 ? i / (ys.length - 1) : 0) * (width - left), y))
}

/** What comes sixty times a second, and is looked at as often as it is told of: seconds since the last, 0 for no news. */
export class Clock {
	#time

	passed({ time }) {
		const passed = this.#time === undefined ? 1 / 60 : time - this.#time
		this.#time = time
		return Math.min(Math.max(passed, 0), 1)
	}
}
