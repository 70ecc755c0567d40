// SPDX-License-Identifier: Apache-2.0
// Every word that the element says to whoever looks at it.

/** By what they are for; `labels` of an element and its attributes label-... go before them. */
export const words = {
	// What it does.
	start: 'Start a conversation', loading: 'Loading…', connecting: 'Connecting…', idle: 'Idle', listening: 'Listening',
	thinking: 'Thinking...', waiting: 'Speak to interrupt', muted: 'Muted', message: 'Type a message', empty: 'Nothing was said yet.',
	begin: 'Start', hold: 'Hold to talk', retry: 'Retry', dismiss: 'Close', error: 'Error',
	// What a screen reader says of buttons and parts.
	mute: 'Mute microphone', toggle: 'Transcript', transcript: 'Transcript', end: 'End conversation', send: 'Send',
	input: 'Message', user: 'You:', agent: 'Assistant:', newest: 'Go to the newest', canvas: 'Level of the voice', card: 'Voice assistant', face: 'Face',
	// Why there is no conversation.
	lost: 'Connection lost', 'lost-hint': 'It is tried again by itself.',
	refused: 'No access', 'refused-hint': 'This page may not use the assistant any more. Load it again.',
	away: 'Cannot connect', 'away-hint': 'It is tried again by itself.',
	blocked: 'Cannot connect', 'blocked-hint': 'The browser or the network blocks the connection of this page.',
	address: 'Cannot connect', 'address-hint': 'The address of the assistant is not right.',
	failed: 'Something went wrong', 'failed-hint': 'Try again in a moment.',
	// What could not be done, while the conversation goes on.
	secure: 'Sound needs HTTPS. Open this page at an address that begins with https://.',
	unsupported: 'This browser cannot send or play sound here. Try another one, or a newer one.',
	denied: 'The microphone is not allowed. Allow it in the browser’s settings for this page, then press the microphone.',
	absent: 'No microphone was found. Connect one, then press the microphone.',
	busy: 'The microphone cannot be used. Another program may have it.',
	ended: 'The microphone has stopped. Press it to start it again.',
	shared: 'The sound is with the other assistant on this page. Press Start to have it here.',
	taken: 'Somebody else is talking to the assistant. Try again when they have finished.',
	sound: 'The microphone or the loudspeaker cannot be used now. Try again in a moment.',
	suspended: 'The browser waits with the sound. Click anywhere to hear it.',
	unsent: 'The message was not sent. Try again in a moment.',
	unmuted: 'The microphone could not be switched. Try again in a moment.',
}

/** The word for why a browser gives no microphone or plays no sound (w3.org/TR/mediacapture-streams, 10.2). */
export function soundTrouble({ name, word }) {
	if (word) return word
	if (name === 'NotAllowedError' || name === 'SecurityError') return 'denied'
	if (name === 'NotFoundError' || name === 'OverconstrainedError') return 'absent'
	return name === 'NotReadableError' || name === 'AbortError' ? 'busy' : 'sound'
}
