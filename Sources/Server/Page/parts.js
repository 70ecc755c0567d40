// SPDX-License-Identifier: Apache-2.0
// What the nodes of a graph are for.

/** The graph as nodes declare it, and which of them plays which part: by their roles, never by their types. */
export class Parts {
	constructor(given) {
		Object.assign(this, { look: {} }, given)
		const { actions, events, nodes, wires } = this
		const who = role => nodes.filter(({ roles }) => roles.includes(role)).map(({ name }) => name)
		this.answering = who('converses')[0]
		this.speaking = who('speaks')[0]
		const can = (node, action) => actions.some(other => other.node === node && other.name === action)
		const names = nodes.map(({ name }) => name)
		this.muted = nodes.filter(({ mute }) => mute).map(({ name }) => name)
		// What takes sound and gives none on, and to which nothing is linked.
		const hasAudio = (ports, isInput) => ports.some(({ kind, input }) => kind === 'audio' && input === isInput)
		this.unlinked = nodes.filter(({ name, ports }) => hasAudio(ports, true) && !hasAudio(ports, false) &&
			!wires.some(({ to, kind }) => to === name && kind === 'audio')).map(({ name }) => name)
		this.recording = who('records')
		this.dictating = this.answering ? [] : nodes.filter(({ roles }) => roles.includes('transcribes'))
		this.canForget = can(this.answering, 'forget')
		this.faces = names.filter(name => this.measures(name, 'orb'))
		// What says how it wants to be drawn goes before what is only measured.
		const drawn = this.faces.filter(name => who('shows').includes(name))
		const shown = drawn.length ? drawn : this.faces
		this.face = this.#follow(this.speaking, 'from', 'to', name => shown.includes(name)) ?? shown[0]
		// Who answers tells texts of its own, and those of whoever it names as their speaker.
		this.texts = new Map(events.filter(({ role }) => role === 'text').map(({ node, name, stage, fields }) => [
			node + ' ' + name,
			{ stage, role: node === this.answering && !fields.some(({ name }) => name === 'speaker') ? 'agent' : 'user' }]))
		const listening = events.find(({ node, role }) => role === 'text' && node !== this.answering)?.node
		this.microphone = this.#follow(listening, 'to', 'from', name => !wires.some(({ to }) => to === name))
		// What is pressed while somebody talks: its control goes to what takes down the talk, or to what is before that.
		this.holding = names.find(name => can(name, 'press') && can(name, 'release') && this.node(name).settings?.mode !== 'toggle'
			&& this.#follow(listening, 'to', 'from', one => wires.some(({ from, to }) => from === name && to === one)))
		this.hold = this.state(this.holding, 'on')
		this.mood = this.state(this.answering, 'state', 'label')
		this.speech = this.state(this.speaking, 'speaking')
		this.word = events.find(({ node, kind }) => node === this.speaking && kind === 'word')?.name
	}

	node(name) {
		return this.nodes.find(node => node.name === name)
	}

	measures(node, series) {
		return this.series.some(other => other.node === node && other.name === series)
	}

	/** The event with which a node tells a state that has these fields. */
	state(node, ...wanted) {
		return this.events.find(event => event.node === node && event.retained &&
			wanted.every(key => event.fields.some(({ name }) => name === key)))?.name
	}

	/** The first node along the audio links of one, or against them, that suits. */
	#follow(start, near, far, suits) {
		const seen = start ? [start] : []
		for (const name of seen) {
			if (suits(name)) return name
			for (const wire of this.wires) {
				if (wire.kind === 'audio' && wire[near] === name && !seen.includes(wire[far])) seen.push(wire[far])
			}
		}
	}
}
