// SPDX-License-Identifier: Apache-2.0
// Why nothing is heard, on every view.
import { h } from './dom.js'

/** What `input.judged` finds of an input from which nothing comes, until something does. */
const dumb = ['missing', 'unconnected', 'silent', 'quiet']
/** Above it something comes, linear: -60 dBFS. */
const audible = 0.001
/** Lines that are shown until somebody wants to see all. */
const most = 3

export function problems(app) {
	const { live, find } = app
	const box = find('problems')
	/** What was found of each input. */
	const inputs = new Map()
	let [notice, degraded, drawn, isOpen] = ['', {}, '', false]

	/** Texts, and the node that a press of a button unmutes. */
	function list() {
		const { muted = [], unlinked = [] } = app.parts ?? {}
		return [
			...(notice ? [[notice[0].toUpperCase() + notice.slice(1)]] : []),
			...Object.entries(degraded).map(([node, why]) => [`${node}: ${why}`]),
			...[...inputs].map(([node, text]) => [`${node}: ${text}`]),
			...unlinked.map(node => [`Nothing is linked to ${node}, so nothing arrives there`]),
			...muted.map(node => [`${node} is muted`, node]),
		]
	}

	function show() {
		const all = list()
		if (drawn === (drawn = JSON.stringify([all, live.readOnly, isOpen]))) return
		const shown = isOpen || all.length <= most ? all : all.slice(0, most - 1)
		box.replaceChildren(...shown.map(([text, muted]) => h('li', {}, h('span', {}, text), muted && h('button', {
			disabled: !live.may('operator'), 'aria-label': `Unmute ${muted}`, onclick: () => app.call('mute', { node: muted, on: false }),
		}, 'Unmute'))), ...(all.length > shown.length ? [h('li', {}, h('button', { onclick: open }, `${all.length - shown.length} more`))] : []))
		box.hidden = !all.length
		find('connection').dataset.problems = all.length > 0
	}

	function open() {
		isOpen = true
		show()
	}

	return {
		changed(parts) {
			for (const node of inputs.keys()) if (!parts.node(node)) inputs.delete(node)
			show()
		},
		event({ event, node, verdict, text, ...status }) {
			if (event === 'status') [notice, degraded] = [status.notice, status.degraded]
			else if (event !== 'input.judged') return
			else if (dumb.includes(verdict)) inputs.set(node, text)
			else inputs.delete(node)
			if (event !== 'status') live.ask('problems', [...inputs.keys()].map(node => `${node}.output`))
			show()
		},
		levels() {
			for (const node of inputs.keys()) {
				if (live.values(node, 'output')?.[0] > audible) {
					inputs.delete(node)
					show()
				}
			}
		},
	}
}
