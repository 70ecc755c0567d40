// SPDX-License-Identifier: Apache-2.0
// The connection to a server.
import { Parts } from './parts.js'

/** Why a call was not done: message, hint, and the diagnostics of a graph. */
const failure = ({ message, hint = '', diagnostics = [] }) => Object.assign(new Error(message), { hint, diagnostics })
/** Each includes those before it. */
const rights = ['visitor', 'operator', 'owner']
/** Why there is no connection: what the page says, and the word of the element for it. */
const cause = (word, message, hint = 'It is tried again by itself.') => Object.assign(failure({ message, hint }), { word })
const lost = cause('lost', 'Connection lost')
const away = cause('away', 'Cannot connect')
const refused = cause('refused', 'No access', 'Open the link that the run prints, or `voicegraph web`.')
const blocked = cause('blocked', 'Cannot connect',
	'The host answers, but no WebSocket reaches it: a policy of the page or a proxy keeps it back.')
/** Milliseconds until a connection that neither opens nor fails counts as lost. */
const patience = 12e3
/** Milliseconds between looks at a connection: after two without a word the host is asked for one, after four it hangs. */
const beat = 750

/** The connection to a server, shared by all on a page that show it: calls, events, levels and sound. */
export class Live {
	static #all = []
	state = 'closed'
	/** The newest numbers of each series: {values}, by place. */
	rows = []
	#named = new Map()
	#latest = new Map()
	#calls = new Map()
	#wishes = new Map()
	#listeners = { state: new Set(), event: new Set(), levels: new Set(), audio: new Set() }
	#users = 0
	#count = 0
	#tries = 0
	/** Looks since the host told anything. */
	#silent = 0
	/** Ends the newest try to connect. */
	#end

	/** The one of a server for whoever has this token, or this function that is asked for one each time. */
	static of(src, token = '', getToken) {
		const key = getToken ?? token
		let live = Live.#all.find(live => live.src === src && live.key === key)
		if (!live) Live.#all.push(live = Object.assign(new Live(), { src, key, token, getToken }))
		return live
	}

	/** Connects for one more user. What is returned ends that; the last one ends the connection. */
	use() {
		if (++this.#users === 1) this.#open()
		else this.retry()
		return () => {
			if (--this.#users) return
			clearTimeout(this.timer)
			clearInterval(this.watch)
			this.socket?.close()
			this.#tell('closed')
		}
	}

	/** Tries again now. */
	retry() {
		if (this.state === 'lost' || this.state === 'refused') this.#open()
	}

	/** Listens to 'state', 'event', 'levels' or 'audio'; what is returned ends that. */
	on(kind, listener) {
		this.#listeners[kind].add(listener)
		return () => this.#listeners[kind].delete(listener)
	}

	/** Asks the host: the results, or an error with a hint. */
	call(call, given) {
		if (this.socket?.readyState !== 1) return Promise.reject(this.refusal ?? away)
		const id = ++this.#count
		this.socket.send(JSON.stringify({ id, call, ...given }))
		return new Promise((resolve, reject) => this.#calls.set(id, { resolve, reject }))
	}

	/** Whether the link has a right. */
	has(right) {
		return rights.indexOf(this.right) >= rights.indexOf(right)
	}

	/** Whether something that needs a right may be changed. */
	may(right) {
		return !this.readOnly && this.has(right)
	}

	/** From now on `owner` wants these series on request. */
	ask(owner, series = []) {
		this.#wishes.set(owner, series)
		const all = new Set([...this.#wishes.values()].flat())
		if (this.state === 'open') this.call('ask', { series: [...all] }).catch(() => {})
	}

	/** The newest numbers of a series; undefined: none were told. */
	values(node, series) {
		return this.#named.get(node + ' ' + series)?.values
	}

	/** The last event of a name. */
	last(node, name) {
		return this.#latest.get(node + ' ' + name)
	}

	/** The graph, its nodes and what they declare. */
	describe() {
		const ask = name => this.call(name)
		return this.described ??= Promise.all(
			[...['nodes', 'actions', 'series', 'declared'].map(ask), ask('streams').catch(() => ({ streams: [] })),
			ask('look').then(look => ({ look }), () => ({}))]
		).then(answers => new Parts(Object.assign({}, ...answers)), error => {
			this.described = undefined
			throw error
		})
	}

	#emit(kind, ...given) {
		for (const listener of this.#listeners[kind]) listener(...given)
	}

	#tell(state, isResumed) {
		this.state = state
		this.#emit('state', state, isResumed)
	}

	#open() {
		clearTimeout(this.timer)
		/** Fulfilled once it is open. */
		this.opened = new Promise((resolve, reject) => {
			let socket
			let isOver = false
			// Where a policy forbids it, browsers throw, or tell an error and never that it is closed.
			const end = this.#end = fault => {
				if (isOver || end !== this.#end) return
				isOver = true
				clearTimeout(limit)
				this.#lose(fault).then(() => reject(this.refusal))
			}
			const limit = setTimeout(() => {
				socket?.close()
				end()
			}, patience)
			const connect = token => {
				if (isOver || end !== this.#end || !this.#users) return
				this.token = token ?? ''
				socket = this.socket = this.#connect()
				if (!socket) return setTimeout(end)
				socket.onopen = () => this.#begin().then(() => resolve(clearTimeout(limit)), () => socket.close())
				socket.onclose = () => end()
				socket.onerror = () => setTimeout(() => socket.readyState > 1 && end())
			}
			const { getToken, token } = this
			// The page is told of a token that was refused.
			if (getToken) Promise.resolve(this.refusal === refused ? token : undefined).then(getToken).then(connect, end)
			else connect(token)
		})
		this.opened.catch(() => {})
		this.#tell('opening')
	}

	/** A socket that is being opened; undefined: the browser does not even try. */
	#connect() {
		const url = new URL('api/live', this.src)
		url.protocol = url.protocol.replace('http', 'ws')
		let socket
		try {
			socket = new WebSocket(url, ['voicegraph', ...(this.token ? ['token.' + this.token] : [])])
		} catch {
			return undefined
		}
		socket.binaryType = 'arraybuffer'
		socket.onmessage = ({ data }) => this.#hear(data)
		return socket
	}

	#hear(data) {
		this.#silent = 0
		return (typeof data === 'string' ? this.#take(JSON.parse(data)) : this.#measure(data))
	}

	/** A host that hangs closes nothing, and neither does a cable that was pulled. */
	#look() {
		if (++this.#silent === 2) this.ask()
		else if (this.#silent > 3) {
			this.socket.close()
			this.#end()
		}
	}

	async #begin() {
		const { run, number, resumed, right, read_only: readOnly } =
			await this.call('events', this.run && { since: this.number, run: this.run })
		Object.assign(this, { run, number, readOnly, right, described: undefined, refusal: undefined })
		this.#tries = 0
		if (!resumed) this.#latest.clear()
		this.#tell('open', resumed)
		this.ask()
		clearInterval(this.watch)
		this.watch = setInterval(() => this.#look(), beat)
	}

	/** `fault`: why there was no token to connect with. */
	async #lose(fault) {
		const end = this.#end
		const wasOpen = this.state === 'open'
		clearInterval(this.watch)
		this.#silent = 0
		this.refusal = fault ? cause('away', `No token: ${fault.message ?? fault}`) : this.run ? lost : away
		for (const { reject } of this.#calls.values()) reject(this.refusal)
		this.#calls.clear()
		if (!this.#users) return
		// From half a second to fifteen, and not all clients at once.
		this.timer = setTimeout(() => this.#open(), Math.min(15e3, 500 * 2 ** this.#tries++) * (0.75 + Math.random() / 2))
		if (!wasOpen && !fault) {
			const headers = this.token ? { Authorization: 'Bearer ' + this.token } : {}
			const signal = AbortSignal.timeout(patience / 4)
			const answer = await fetch(new URL('api/nodes', this.src), { headers, signal }).catch(() => ({}))
			if (answer.status === 401 || answer.status === 403) this.refusal = refused
			else if (answer.ok) this.refusal = blocked
		}
		// Another one may be open by now.
		if (this.#users && end === this.#end) this.#tell(this.refusal === refused ? 'refused' : 'lost')
	}

	#take(message) {
		const { event, node = '', number } = message
		if (number > this.number) this.number = number
		if (event === undefined) {
			const call = this.#calls.get(message.id)
			this.#calls.delete(message.id)
			if (message.ok) call?.resolve(message)
			else call?.reject(failure(message.error))
		} else if (event === 'series.names') {
			const known = this.#named
			this.#named = new Map()
			this.rows = message.names.map(([node, series]) => {
				const key = node + ' ' + series
				const row = known.get(key) ?? { values: new Float32Array() }
				this.#named.set(key, row)
				return row
			})
		} else {
			if (event === 'graph.changed') this.described = undefined
			this.#latest.set(node + ' ' + event, message)
			this.#emit('event', message)
		}
	}

	#measure(buffer) {
		const view = new DataView(buffer)
		if (view.getUint8(0) === 2) return this.#emit('audio', buffer, view.getUint8(1))
		this.time = view.getFloat64(8, true)
		for (let at = 16; at < buffer.byteLength;) {
			const row = this.rows[view.getUint16(at, true)]
			const count = view.getUint16(at + 2, true)
			if (row && row.values.length !== count) row.values = new Float32Array(count)
			at += 4
			for (let i = 0; i < count; i++, at += 4) if (row) row.values[i] = view.getFloat32(at, true)
		}
		this.#emit('levels')
	}
}
