// SPDX-License-Identifier: Apache-2.0
// What was said before the page was opened.

/** Puts into the bubbles what the archive has of the run that plays, as far as it is over, while `isWanted()`. */
export async function recall(live, graph, bubbles, isWanted) {
	const now = live.last('', 'status')
	const { settings: { speaker: voice = graph.answering } = {} } = graph.node(graph.answering) ?? {}
	try {
		const { sessions } = await live.call('transcripts')
		const session = sessions.findLast(session => session.graph === graph.graph && session.state === 'running')
		const { items } = session ? await live.call('transcript', { session: session.id }) : { items: [] }
		if (!isWanted()) return
		const begun = now && Date.parse(now.utc) / 1000 - now.time
		for (const { id, node, speaker, start, utc, state, text } of items) {
			// Another run of the same graph has begun at another time; what is still said comes by itself.
			if (state === 'growing' || now && Math.abs(Date.parse(utc) / 1000 - start - begun) > 60) continue
			const role = node === graph.answering && speaker === voice ? 'agent' : 'user'
			const { items: shown } = bubbles.transcript
			if (shown.some(item => item.role === role && item.text === text && Math.abs(item.time - start) < 60)) continue
			bubbles.put({ id: `kept ${id}`, role, text, time: start }, false)
		}
	} catch {
		// Where nothing can be read of what was kept, the conversation begins with what is said now.
	}
}
