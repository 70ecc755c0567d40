// SPDX-License-Identifier: Apache-2.0
// A button that is on while it is held.

/** Calls `turn(isHeld)` while a pointer, Space or Enter holds the button; what takes the focus away lets it go. */
export function holds(button, turn) {
	let isHeld = false
	const release = () => set(false)
	const set = isOn => {
		if (isOn === isHeld) return
		isHeld = isOn
		const change = isOn ? 'addEventListener' : 'removeEventListener'
		window[change]('blur', release)
		document[change]('visibilitychange', release)
		turn(isOn)
	}
	button.onpointerdown = event => {
		if (event.button) return
		button.setPointerCapture(event.pointerId)
		set(true)
	}
	// A screen reader may only click.
	button.onclick = ({ detail }) => detail || set(!isHeld)
	button.onkeyup = event => event.preventDefault()
	button.onkeydown = event => {
		if (event.key !== ' ' && event.key !== 'Enter') return
		event.preventDefault()
		set(true)
	}
	for (const end of ['pointerup', 'pointercancel', 'lostpointercapture', 'keyup', 'blur']) button.addEventListener(end, release)
	// What a long touch opens would take the pointer away.
	button.oncontextmenu = event => event.preventDefault()
}
