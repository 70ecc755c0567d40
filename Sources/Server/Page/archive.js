// SPDX-License-Identifier: Apache-2.0
// Recordings, and what was said.
import { download, fill, h } from './dom.js'

const clock = seconds => new Date(1000 * seconds).toISOString().slice(11, 19)
/** Bars of magnitudes, of 60 in height, each of 2 in width. */
const bars = magnitudes => magnitudes.map((magnitude, i) => {
	const half = Math.min(30, Math.max(0.5, 30 * magnitude))
	return `M${i * 2 + 1} ${30 - half}v${2 * half}`
}).join('')
const drawn = (line, width) => h('svg:svg', { viewBox: `0 0 ${width} 60`, preserveAspectRatio: 'none', 'aria-hidden': 'true' }, line)
const date = utc => new Date(utc).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' })

export function recorder(app) {
	const { live, find } = app
	const sign = find('recording')
	let recorders = []
	let rows = new Map()
	let ticking

	/** What is recorded is in the header of every view, and counts there and in its panel. */
	function show() {
		const on = recorders.filter(({ isOn }) => isOn())
		for (const { tick } of on) tick()
		sign.hidden = !on.length
		sign.textContent = on.map(({ node, time }) => `${on.length > 1 ? node + ' ' : ''}${time()}`).join(', ')
		clearTimeout(ticking)
		if (on.length) ticking = setTimeout(show, 250)
	}

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
		const time = () => clock(seconds + passed())
		const tick = () => (timer.textContent = time())
		const panel = h('div', { class: 'panel' })
		function take(event) {
			// Levels that were on their way when it was paused tell less than the pause.
			const isOlder = event.values && ['paused', 'interrupted'].includes(now)
			if (event.seconds !== undefined && !isOlder) [seconds, since] = [event.seconds, performance.now()]
			if (event.event === names[0]) {
				now = panel.dataset.state = event.state
				state.textContent = [now, event.reason].filter(Boolean).join(': ')
				const isOn = ['recording', 'paused', 'interrupted'].includes(now)
				const shown = { start: !isOn, pause: now === 'recording', resume: now === 'paused', finish: isOn, discard: isOn }
				for (const name in shown) buttons[name].hidden = !shown[name]
			}
			if (event.values) line.setAttribute('d', bars(event.values.map(level => level / 60 + 1)))
			tick()
		}
		take({ event: names[0], state: 'idle' })
		// The state is the newer one of the two.
		for (const name of names.toReversed()) take(live.last(node, name) ?? {})
		panel.append(h('div', { class: 'head' }, h('h2', {}, node), state), timer,
			drawn(line, 200), h('div', { class: 'row' }, ...Object.values(buttons)))
		return { node, take, tick, time, isOn: () => now === 'recording', element: panel }
	}

	/** A take, or a recording of this run of which nothing is kept. */
	function row({ id, number, node, path, seconds = 0, utc, speaker = node, state = '', reason = '', exists, outline = [] }, ticket) {
		const src = `api/${id ? `takes/${id}` : `recordings/${number}`}/audio?ticket=${ticket}`
		const name = path.split('/').pop()
		const facts = [date(utc), speaker, [state === 'whole' ? '' : state, reason].filter(Boolean).join(' ')]
		return h('li', {}, h('div', { class: 'head' }, h('strong', {}, name), h('span', { class: 'quiet' }, clock(seconds))),
			h('small', {}, facts.filter(Boolean).join(', ')), h('code', { class: 'quiet' }, path),
			outline.length > 1 && drawn(h('svg:path', { d: bars(outline) }), 2 * outline.length),
			exists ? h('audio', { controls: true, preload: 'none', src, 'aria-label': name })
				: h('p', {}, 'The file is gone.'),
			h('div', { class: 'row' },
				exists && h('button', { onclick: () => download(src, name), 'aria-label': `Download ${name}` }, 'Download'),
				id && app.button('Forget', 'Forget it? Its file stays', () => app.call('delete_takes', { takes: [id] }).then(list))))
	}

	async function list() {
		const [{ takes }, { recordings }, { ticket }] = await Promise.all(
			[live.call('takes'), live.call('recordings'), live.call('ticket')])
		const others = recordings.filter(({ kept }) => !kept).reverse()
		const outlines = new Map(recordings.map(({ path, outline }) => [path, outline]))
		const before = rows
		// A take of which nothing has changed keeps its row, which may be playing.
		rows = new Map([...others, ...takes.reverse()].map(take => {
			take.outline ??= outlines.get(take.path)
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
			show()
		},
		enter() {
			list().catch(app.tell)
		},
		event(event) {
			const told = recorders.find(({ node }) => node === event.node)
			if (told) {
				told.take(event)
				show()
			}
			const declared = app.parts?.events.find(({ node, name }) => node === event.node && name === event.event)
			if (declared?.role === 'take' && !find('recorder').hidden) setTimeout(() => list().catch(app.tell), 500)
		},
	}
}

/** A text in which the words of a search are marked. They are compared as the archive does: without accents and case. */
function marked(text, search) {
	const plain = word => word.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
	const sought = [...search.matchAll(/([\p{L}\p{N}\p{M}]+)(\*?)/gu)].map(([, word, star]) => [plain(word), star])
	const isSought = part => sought.some(([word, star]) => (star ? plain(part).startsWith(word) : plain(part) === word))
	return text.split(/([\p{L}\p{N}\p{M}]+)/u).map((part, at) => (at % 2 && isSought(part) ? h('mark', {}, part) : part))
}

export function transcripts(app) {
	const { live, find } = app
	const box = find('words')
	let [chosen, waiting] = []
	let [takes, ticket] = [[]]
	const selected = () => [...find('items').querySelectorAll(':checked')].map(({ value }) => Number(value))
	const remove = app.button('Delete selected', 'Delete for good?',
		() => app.call('delete', { items: selected() }).then(load))
	const count = () => (remove.disabled = live.readOnly || !selected().length)
	find('delete').append(remove)
	const files = ['SRT', 'VTT', 'TXT', 'MD'].map(kind => h('button', { 'aria-label': `Download as ${kind}`,
		onclick: () => app.file(`api/transcripts/${chosen}.${kind.toLowerCase()}`).then(file => download(file, ''), app.tell) }, kind))
	find('downloads').append(...files)

	/** The words that are searched for are marked; what is found says in which session it was said, and leads there. */
	function row({ id, session, graph, text: words, speaker, start, end, utc, original }, sought) {
		const text = h('p', {}, ...marked(words, sought))
		const edit = h('button', { disabled: live.readOnly, 'aria-label': `Edit ${words}`, onclick() {
			const input = h('textarea', { 'aria-label': 'Text', value: words, rows: 1 + Math.floor(words.length / 60),
				onkeydown(event) {
					if (event.isComposing) return
					if (event.key === 'Escape') load()
					if (event.key === 'Enter' && !event.shiftKey) {
						event.preventDefault()
						form.requestSubmit()
					}
				} })
			const form = h('form', { onsubmit: async event => {
				event.preventDefault()
				if (await app.call('edit', { item: id, text: input.value.trim() })) load()
			} }, input, h('div', { class: 'row' }, h('button', { class: 'main' }, 'Save'),
				h('button', { type: 'button', onclick: load }, 'Cancel')))
			text.replaceWith(form)
			edit.hidden = true
			input.focus()
		} }, 'Edit')
		const middle = (start + end) / 2
		const take = takes.find(take => take.session === session && take.start <= middle && middle < take.end)
		// From a little before it: who hears speech is sure of it only then.
		const play = take && h('button', { 'aria-label': `Play ${words}`, onclick() {
			const from = Math.max(0, start - take.start - 0.3).toFixed(2)
			find('items').querySelector('audio')?.remove()
			text.after(h('audio', { controls: true, autoplay: true, 'aria-label': words,
				src: `api/takes/${take.id}/audio?ticket=${ticket}#t=${from}` }))
		} }, 'Play')
		return h('li', { class: 'item' },
			h('input', { type: 'checkbox', value: id, 'aria-label': `Select ${words}`, onchange: count }),
			h('div', {}, h('small', {}, `${speaker}, ${date(utc)}${original === undefined ? '' : ', edited'}`), text,
				sought && h('button', { class: 'link', onclick: () => open(session) }, `Session of ${graph}`)), play, edit)
	}

	function open(session) {
		chosen = session
		box.value = ''
		again()
	}

	async function load() {
		const [{ sessions }, kept, may] = await Promise.all(['transcripts', 'takes', 'ticket'].map(name => live.call(name)))
		// One in which there were pauses tells not where in it something was said.
		takes = kept.takes.filter(({ exists, state, start, end, seconds }) =>
			exists && state === 'whole' && Math.abs(end - start - seconds) < 0.5)
		ticket = may.ticket
		// What has no word finds nothing, and is no mistake of whoever is still typing.
		const words = /[\p{L}\p{N}]/u.test(box.value) ? box.value.trim() : ''
		chosen ??= sessions.at(-1)?.id
		find('sessions').replaceChildren(...sessions.reverse().map(({ id, graph, start, items, speakers }) => h('li', {},
			h('button', { 'aria-pressed': `${id === chosen && !words}`, onclick: () => open(id) },
				`${graph}, ${date(start)}`, h('br'), `${items} ${items === 1 ? 'text' : 'texts'}: ${speakers.join(', ')}`))))
		const { items } = words ? await live.call('search', { words })
			: chosen ? await live.call('transcript', { session: chosen }) : { items: [] }
		find('items').replaceChildren(...items.map(item => row(item, words)))
		find('items').dataset.empty = words ? 'Nothing is found.' : ''
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
