// SPDX-License-Identifier: Apache-2.0
// Numbers on their way.

const curves = { linear: x => x, out: x => 1 - (1 - x) ** 1.7, inOut: x => x * x * (3 - 2 * x) }

/** A number on its way; times in seconds. */
export class Ease {
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
export class Bars {
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
