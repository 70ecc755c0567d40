// SPDX-License-Identifier: Apache-2.0
// The page: its connection, its views, and how the host is.
import './voice-graph.js'
import { h } from './dom.js'
import { Live } from './live.js'
import { recorder, transcripts } from './archive.js'
import { meters } from './meters.js'
import { nodes } from './nodes.js'
import { problems } from './problems.js'
import { graph } from './graph.js'
import { talk } from './talk.js'

const find = id => document.getElementById(id)
// The token of the link is kept for this place alone: a browser would send a cookie to every port of the machine.
const link = new URL(location)
if (link.searchParams.has('token')) {
	localStorage.token = link.searchParams.get('token')
	link.searchParams.delete('token')
	history.replaceState(null, '', link)
}
const token = localStorage.token ?? ''
const live = Live.of(new URL('.', location).href, token)
const notice = find('notice')
/** Whether the notice says why a call was refused, and not how the connection is. */
let isRefusal = false
let clearing

/** What the views share; `parts` is the graph, once it is known. */
const app = {
	live, find,
	/** Calls the host; undefined where it refuses, which is shown until something is done. */
	async call(name, given) {
		try {
			const answer = await live.call(name, given)
			if (isRefusal) notice.hidden = true
			return answer
		} catch (fault) {
			return app.tell(fault)
		}
	},
	/** Calls the host and says for some seconds in a few words what that did. */
	async does(name, given, text) {
		const done = await app.call(name, given)
		clearTimeout(clearing)
		find('edited').textContent = done ? text(done) : ''
		clearing = setTimeout(() => (find('edited').textContent = ''), 8000)
		return done
	},
	undo: () => app.does('undo', {}, ({ step }) => `Taken back: ${step}`),
	redo: () => app.does('redo', {}, ({ step }) => `Done again: ${step}`),
	/** The address of a file: what plays or saves it sends no header, but a ticket. */
	file: async path => `${path}?ticket=${(await live.call('ticket')).ticket}`,
	/** The levels of what a node gives away; they are measured before it is muted. */
	output(node) {
		const levels = live.values(node, 'output')
		return app.parts.node(node)?.mute ? levels?.map(() => 0) : levels
	},
	/** Shows what went wrong: message, hint and where. */
	tell({ message, hint = '', diagnostics = [] }, name = 'Close', act) {
		// The message is the first of the diagnostics, where there are some.
		const [[first, what], ...more] = diagnostics.length
			? diagnostics.map(({ line, message, hint }) => [`${line ? `Line ${line}: ` : ''}${message}`, hint]) : [[message, hint]]
		notice.replaceChildren(h('strong', {}, first), what ? h('p', {}, what) : '',
			...more.map(([text, hint]) => h('p', {}, [text, hint].filter(Boolean).join('. '))),
			h('button', { onclick: act ?? (() => (notice.hidden = true)) }, name))
		notice.hidden = false
		isRefusal = !act
	},
	/** A button that asks once more before something is lost. */
	button: (text, question, onclick) => h('button', { class: 'bad', disabled: live.readOnly,
		onclick: ({ target }) => (target.textContent === question ? onclick() : (target.textContent = question)),
		onblur: ({ target }) => (target.textContent = text) }, text),
}

function health() {
	const percent = share => `${(100 * share).toFixed(1)} %`
	const rows = (id, list) => find(id).replaceChildren(...list.map(parts => h('li', { class: 'head' }, ...parts)))
	const words = (table = {}) => Object.entries(table).map(([key, value]) =>
		(value > 0 ? `${value} ${key.replaceAll('_', ' ')}` : `${key}: ${typeof value === 'object' ? words(value) : value}`)).join(', ')
	const sound = ({ node, waiting, missing }) => `${node}: ${waiting} frames wait, ${missing} came too late`
	async function look() {
		const [{ timings }, { dropouts }] = await Promise.all([live.call('timings'), live.call('dropouts')])
		const load = Object.entries(timings).sort(([, a], [, b]) => b.recent_average_us - a.recent_average_us)
		rows('timings', load.map(([node, times]) => [node,
			h('span', { class: 'quiet' }, `${times.recent_average_us.toFixed(1)} µs, at most ${times.maximum_us.toFixed(0)}`)]))
		rows('dropouts', dropouts.reverse().map(({ cause, text, advice }) => [h('div', {}, h('strong', {}, cause), ` ${text}`,
			h('p', { class: 'quiet' }, advice))]))
	}
	return {
		enter() {
			look().catch(app.tell)
			this.timer = setInterval(() => look().catch(() => {}), 2000)
		},
		leave() {
			clearInterval(this.timer)
		},
		event(event) {
			const { event: name, utc = '', node, says, state, text, reason, level, item, scheduling } = event
			if (name === 'status') {
				find('connection').textContent = `${state}, ${percent(event.load)} load`
				find('status').replaceChildren(...Object.entries({
					State: state, Driver: `${event.driver} ${event.server}`, Format: `${event.rate} Hz, ${event.block} frames`,
					Load: percent(event.load), 'Audio thread': `${scheduling.policy} ${scheduling.priority}`,
					Dropouts: words(event.dropouts) || 'none', 'Told by the server': event.xruns, Counted: words(event.counters),
					'Not well': words(event.degraded), Muted: app.parts?.muted.join(', ') ?? '', Notice: event.notice,
					'This browser': find('conversation').streams.map(sound).join(', '),
				}).flatMap(([key, value]) => (value === '' ? [] : [h('dt', {}, key), h('dd', {}, String(value))])))
			} else if (says || reason || (!item && (state || text || name === 'graph.changed'))) {
				const changed = ['added', 'removed'].flatMap(key => event[key]?.length ? [key, ...event[key]] : [])
					.concat(Object.entries(event.switched ?? {}).map(([name, what]) => `${what} ${name}`))
				const kind = level === 'error' || /fail|lost|dropout/.test(name) ? 'bad' : level === 'warning' ? 'warning' : ''
				const line = h('li', { class: kind, 'data-utc': utc }, h('small', {}, utc.slice(11, 19)),
					' ' + (says ? [node, says].filter(Boolean).join(': ')
						: [node, name.replaceAll('.', ' '), ...changed, state, text, reason].filter(Boolean).join(' ')))
				// States of before are told when the page is opened, in no order of time.
				find('log').insertBefore(line, [...find('log').children].find(({ dataset }) => dataset.utc <= utc) ?? null)
				if (find('log').children.length > 200) find('log').lastChild.remove()
			}
		},
	}
}

const shown = problems(app)
const views = { talk: talk(app), recorder: recorder(app), transcripts: transcripts(app), meters: meters(app),
	nodes: nodes(app), graph: graph(app), health: health() }
let current
/** A visitor talks; whoever may see the rest has another link. */
const allowed = () => (live.has('operator') ? Object.keys(views) : ['talk'])

function route() {
	const name = location.hash.replace(/^#\/?/, '')
	views[current]?.leave?.()
	current = app.parts && allowed().includes(name) ? name : 'talk'
	for (const id in views) find(id).hidden = id !== current
	for (const link of document.querySelectorAll('nav a')) link.ariaCurrent = link.hash === '#/' + current ? 'page' : null
	document.querySelector('[aria-current]').scrollIntoView({ block: 'nearest', inline: 'nearest' })
	scrollTo(0, 0)
	if (app.parts) views[current].enter?.()
}

async function reload() {
	const isFirst = !app.parts
	const parts = app.parts = await live.describe()
	const { theme: wanted, logo } = parts.look
	if (!localStorage.theme && wanted) paint(theme.value = wanted)
	if (logo) document.querySelector('header img').src = logo
	find('graph-name').textContent = document.title = parts.graph
	document.querySelector('nav').hidden = !live.has('operator')
	for (const id of allowed()) views[id].changed?.(parts)
	shown.changed(parts)
	if (isFirst) route()
}

const places = { opening: 'Connecting…', open: 'Connected', lost: 'Connection lost', refused: 'No access' }
let told
live.on('state', state => {
	find('connection').textContent = places[state]
	find('connection').dataset.state = state
	if (state === 'open') {
		notice.hidden = true
		reload().catch(app.tell)
	} else if (state !== 'opening' && state !== told) app.tell(live.refusal, 'Retry', () => live.retry())
	if (state !== 'opening') told = state
})
live.on('event', event => {
	if (event.event === 'graph.changed') reload().catch(app.tell)
	for (const id of allowed()) views[id].event?.(event)
	shown.event(event)
})
live.on('levels', () => {
	views[current].levels?.()
	shown.levels()
})

const theme = find('theme')
const elements = document.querySelectorAll('voice-graph')
function paint(name) {
	document.documentElement.dataset.theme = name
	for (const element of elements) element.setAttribute('theme', name)
}
theme.onchange = () => paint(localStorage.theme = theme.value)
paint(theme.value = localStorage.theme ?? 'system')
addEventListener('hashchange', route)
addEventListener('keydown', event => {
	const isText = event.composedPath()[0].matches?.('input, textarea, select')
	if (isText || !(event.ctrlKey || event.metaKey) || event.altKey || !live.has('owner')) return
	const key = event.key.toLowerCase()
	const act = key === 'y' || (key === 'z' && event.shiftKey) ? app.redo : key === 'z' && app.undo
	if (!act) return
	event.preventDefault()
	act()
})
route()
live.use()
for (const element of elements) {
	element.setAttribute('token', token)
	element.removeAttribute('should-initialize')
}
