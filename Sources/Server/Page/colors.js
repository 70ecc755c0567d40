// SPDX-License-Identifier: Apache-2.0
// Presets, and what can be told from the ground behind it.

/** Outer and inner colour of each preset. */
export const presets = {
	verdant: ['#d3ffa6', '#036b5b'], twilight: ['#81b9ff', '#371a5e'], bloom: ['#ffd4fe', '#fd05f9'],
	mystic: ['#1f023a', '#ca76ff'], flare: ['#ffffff', '#fc5f00'], glacier: ['#4ce5f2', '#005a98'],
}

/** The colours of a preset in any case, or of a pair as d3ffa6-036b5b; of anything else those of verdant. */
export function presetColors(name) {
	const pair = /^#?([0-9a-f]{6})-#?([0-9a-f]{6})$/i.exec(name)
	return pair ? ['#' + pair[1], '#' + pair[2]] : presets[Object.hasOwn(presets, name.toLowerCase()) ? name.toLowerCase() : 'verdant']
}

const channels = color => [1, 3, 5].map(at => parseInt(color.slice(at, at + 2), 16))
export const hex = parts => '#' + parts.map(part => Math.round(part).toString(16).padStart(2, '0')).join('')
export const mix = (a, b, share) => hex(channels(a).map((part, i) => part + (channels(b)[i] - part) * share))
export const luminance = color => channels(color).reduce(
	(sum, part, i) => sum + [0.2126, 0.7152, 0.0722][i] * ((part / 255 + 0.055) / 1.055) ** 2.4, 0)
export const isDark = color => luminance(color) < 0.18
const probe = document.createElement('canvas').getContext('2d')

/** A colour of a style sheet as #rrggbb; white for what has no such form. */
export function opaque(color) {
	probe.fillStyle = '#fff'
	probe.fillStyle = color
	return probe.fillStyle.length === 7 ? probe.fillStyle : '#ffffff'
}

/** The colour, moved towards black or white until it can be told from the ground: 3 to 1 (WCAG 2, 1.4.11). */
export function legible(color, ground) {
	let result = color
	for (let share = 0; share <= 1; share += 0.05) {
		result = mix(color, isDark(ground) ? '#ffffff' : '#000000', share)
		const [low, high] = [luminance(result), luminance(ground)].sort((a, b) => a - b)
		if ((high + 0.05) / (low + 0.05) >= 3.1) break
	}
	return result
}
