// SPDX-License-Identifier: Apache-2.0
// Recordings, and what was said.
import { download, fill, h } from './dom.js'

const clock = seconds => new Date(1000 * seconds).toISOString().slice(11, 19)
const date = utc => new Date(utc).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' })

export function recorder(app) {
	const { live, find } = app
	let recorders = []
	let rows = new Map()

	function panel(node) {
		const state = h('span', { class: 'quiet' })
		const timer = h('p', { class: 'timer', role: 'timer', 'aria-label': 'Recorded' })
		const line = h('svg:path')
		const act = action => () => app.call('do', { node, action })
		const buttons = Object.fromEntries(['start', 'pause', 'resume', 'finish'].map(action =>
			[action, h('button', { onclick: act(action), disabled: live.readOnly }, action === 'start' ? 'Record' : action)]))
		buttons.discard = app.button('discard', 'Discard it?', act('discard'))
		const names = [app.parts.state(node, 'state', 'seconds'), app.parts.state(node, 'values', 'seconds')]
		let [seconds, since, now] = [0, 0, 'idle']
		const passed = () => (now === 'recording' ? (performance.now() - since) / 1000 : 0)
		const tick = () => (timer.textContent = clock(seconds + passed()))
		function take(event) {
			if (event.seconds !== undefined) [seconds, since] = [event.seconds, performance.now()]
			if (event.event === names[0]) {
				now = event.state
				state.textContent = [now, event.reason].filter(Boolean).join(': ')
				const isOn = ['recording', 'paused', 'interrupted'].includes(now)
				const shown = { start: !isOn, pause: now === 'recording', resume: now === 'paused', finish: isOn, discard: isOn }
				for (const name in shown) buttons[name].hidden = !shown[name]
			}
			if (event.values) line.setAttribute('d', event.values.map((level, i) => {
				const half = Math.max(0.5, level / 2 + 30)
				return `M${i * 2 + 1} ${30 - half}v${2 * half}`
			}).join(''))
			tick()
		}
		take({ event: names[0], state: 'idle' })
		for (const name of names) take(live.last(node, name) ?? {})
		return { node, take, tick, element: h('div', { class: 'panel' },
			h('div', { class: 'head' }, h('h2', {}, node), state), timer,
			h('svg:svg', { viewBox: '0 0 200 60', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, line),
			h('div', { class: 'row' }, ...Object.values(buttons))) }
	}

	function row({ id, path, seconds = 0, utc, speaker, state, reason = '', exists }, ticket) {
		const src = `api/takes/${id}/audio?ticket=${ticket}`
		const name = path.split('/').pop()
		return h('li', {}, h('div', { class: 'head' }, h('strong', {}, name), h('span', { class: 'quiet' }, clock(seconds))),
			h('small', {}, `${date(utc)}, ${speaker}, ${state} ${reason}`),
			exists ? h('audio', { controls: true, preload: 'none', src, 'aria-label': name })
				: h('p', {}, 'The file is gone.'),
			h('div', { class: 'row' },
				exists && h('button', { onclick: () => download(src, name), 'aria-label': `Download ${name}` }, 'Download'),
				app.button('Forget', 'Forget it? Its file stays', () => app.call('delete_takes', { takes: [id] }).then(list))))
	}

	async function list() {
		const [{ takes }, { ticket }] = await Promise.all([live.call('takes'), live.call('ticket')])
		const before = rows
		// A take of which nothing has changed keeps its row, which may be playing.
		rows = new Map(takes.reverse().map(take => {
			const key = JSON.stringify(take)
			return [key, before.get(key) ?? row(take, ticket)]
		}))
		fill(find('takes'), [...rows.values()])
	}

	return {
		changed({ recording }) {
			if (recorders.length && recording.join() === recorders.map(({ node }) => node).join()) return
			recorders = recording.map(panel)
			find('recorders').replaceChildren(...recorders.map(({ element }) => element))
		},
		enter() {
			list().catch(app.tell)
			this.timer = setInterval(() => recorders.forEach(({ tick }) => tick()), 250)
		},
		leave() {
			clearInterval(this.timer)
		},
		event(event) {
			recorders.find(({ node }) => node === event.node)?.take(event)
			const declared = app.parts?.events.find(({ node, name }) => node === event.node && name === event.event)
			if (declared?.role === 'take' && !find('recorder').hidden) setTimeout(() => list().catch(app.tell), 500)
		},
	}
}

export function transcripts(app) {
	const { live, find } = app
	const box = find('words')
	let [chosen, waiting] = []
	const selected = () => [...find('items').querySelectorAll(':checked')].map(({ value }) => Number(value))
	const remove = app.button('Delete selected', 'Delete for good?',
		() => app.call('delete', { items: selected() }).then(load))
	const count = () => (remove.disabled = live.readOnly || !selected().length)
	find('delete').append(remove)
	const files = ['SRT', 'VTT', 'TXT'].map(kind => h('button', { 'aria-label': `Download as ${kind}`,
		onclick: () => app.file(`api/transcripts/${chosen}.${kind.toLowerCase()}`).then(file => download(file, ''), app.tell) }, kind))
	find('downloads').append(...files)

	function row({ id, text: words, speaker, utc, original }) {
		const text = h('p', {}, words)
		const edit = h('button', { disabled: live.readOnly, 'aria-label': `Edit ${words}`, onclick() {
			const input = h('textarea', { 'aria-label': 'Text', value: words })
			text.replaceWith(h('form', { onsubmit: async event => {
				event.preventDefault()
				if (await app.call('edit', { item: id, text: input.value.trim() })) load()
			} }, input, h('div', { class: 'row' }, h('button', { class: 'main' }, 'Save'),
				h('button', { type: 'button', onclick: load }, 'Cancel'))))
			edit.hidden = true
			input.focus()
		} }, 'Edit')
		return h('li', { class: 'item' },
			h('input', { type: 'checkbox', value: id, 'aria-label': `Select ${words}`, onchange: count }),
			h('div', {}, h('small', {}, `${speaker}, ${date(utc)}${original === undefined ? '' : ', edited'}`), text), edit)
	}

	async function load() {
		const { sessions } = await live.call('transcripts')
		// What has no word finds nothing, and is no mistake of whoever is still typing.
		const words = /[\p{L}\p{N}]/u.test(box.value) ? box.value.trim() : ''
		chosen ??= sessions.at(-1)?.id
		find('sessions').replaceChildren(...sessions.reverse().map(({ id, graph, start, items, speakers }) => h('li', {},
			h('button', { 'aria-pressed': `${id === chosen && !words}`, onclick() {
				chosen = id
				box.value = ''
				again()
			} }, `${graph}, ${date(start)}`, h('br'), `${items} texts ${speakers.join(', ')}`))))
		const { items } = words ? await live.call('search', { words })
			: chosen ? await live.call('transcript', { session: chosen }) : { items: [] }
		find('items').replaceChildren(...items.map(row))
		find('downloads').hidden = !!words || !items.length
		count()
	}

	const again = () => load().catch(app.tell)
	box.oninput = () => {
		clearTimeout(waiting)
		waiting = setTimeout(again, 250)
	}
	return { enter: again }
}
