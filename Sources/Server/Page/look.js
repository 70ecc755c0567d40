// SPDX-License-Identifier: Apache-2.0
// How the element looks, and what it is made of.
import { h, icon } from './dom.js'
import { styles } from './face.js'

/** Modes that are a picture alone. */
const faces = ['face', ...styles].map(mode => `[mode=${mode}]`).join()

export const style = new CSSStyleSheet()
style.replaceSync(`
/* Nothing comes in from the page but its direction, whether it is to be seen, and the place that it gives the element. */
:host { all: initial; visibility: inherit; display: inline-block;
	--surface: var(--vg-surface, light-dark(#fff, #171a20)); --text: var(--vg-text-primary, light-dark(#11161f, #eef1f5));
	--quiet: var(--vg-text-secondary, light-dark(#566070, #a3adbb)); --line: light-dark(#dde2e8, #2e3540);
	--field: var(--vg-input-background, light-dark(#f1f3f6, #222731)); --bad: light-dark(#b42318, #ff9a8d);
	max-width: 100% }
:host([hidden]) { display: none !important }
:host > div { --accent: light-dark(#036b5b, #7fe3c4); --on: light-dark(#fff, #10231e);
	--own: light-dark(#036b5b, #0b6e5e); --own-text: #fff;
	all: initial; display: contents; visibility: inherit; color-scheme: light dark; color: var(--text);
	font: 15px/1.45 var(--vg-font, system-ui, sans-serif); overflow-wrap: break-word }
:host > [data-theme=light] { color-scheme: light } :host > [data-theme=dark] { color-scheme: dark }
:host([position*='-']) { position: fixed; z-index: 9999; margin: 20px; max-width: calc(100vw - 40px) }
:host([position^=bottom]) { bottom: 0 } :host([position^=top]) { top: 0 }
:host([position$=right]) { right: 0 } :host([position$=left]) { left: 0 }
* { box-sizing: border-box; font: inherit; color: inherit; margin: 0 } [hidden] { display: none !important }
button { border: 0; background: var(--field); height: 44px; min-width: 44px; padding: 0 11px; border-radius: 28px;
	cursor: pointer } :disabled { opacity: .5; cursor: default }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
svg { width: 22px; fill: none; stroke: currentColor; stroke-width: 1.8; stroke-linecap: round; stroke-linejoin: round;
	display: block }
.launcher, .card { background: var(--surface); border: 1px solid var(--line); box-shadow: 0 8px 32px #0002 }
.launcher { display: flex; align-items: center; gap: 10px; height: 56px; padding: 0 22px; font-weight: 600 }
.launcher img { width: 32px; height: 32px; object-fit: contain }
.launcher svg { color: var(--accent) } .bad svg, .end, .notice { color: var(--bad) }
.busy svg { animation: wait 1s infinite alternate } @keyframes wait { to { opacity: .3 } }
.round { width: 56px; padding: 0; justify-content: center } .round svg { width: 32px }
.round:not(.bad) { background: var(--accent); border-color: transparent } .round:not(.bad) svg { color: var(--on) }
::slotted([slot=icon]) { max-width: 32px; max-height: 32px }
.round span, .said { position: absolute; clip-path: inset(50%) }
.card { width: 360px; max-width: 100%; border-radius: var(--vg-radius, 24px); overflow: hidden; display: inline-flex;
	vertical-align: top; flex-direction: column; position: relative } .tall { height: min(580px, 100vh - 40px); height: min(580px, 100dvh - 40px) }
.stage { height: 212px; flex: none; padding: 16px } .tall .stage { height: 96px; padding: 8px }
canvas { display: block; width: 100%; height: 100%; transition: filter .3s, opacity .3s }
/* Who waits breathes, who is muted is grey, and what is lost stands still. */
:is([data-picture=idle], [data-picture=listening]) canvas { animation: breathe 4s infinite ease-in-out }
@keyframes breathe { 50% { scale: .96; opacity: .8 } }
[data-picture=muted] canvas { filter: grayscale(1); opacity: .6 } [data-picture=lost] canvas { opacity: .45 }
.status, .hint { text-align: center; color: var(--quiet); padding: 0 16px 12px; font-size: 14px }
ol { flex: 1; overflow-y: auto; padding: 12px 16px; list-style: none; display: flex; gap: 8px; flex-direction: column;
	background: var(--vg-transcript-background, transparent) }
ol:empty::before { content: attr(data-empty); color: var(--quiet); margin: auto }
li { max-width: 85%; padding: 9px 14px; border-radius: 18px; overflow-wrap: anywhere; white-space: pre-wrap }
.agent { align-self: start; background: var(--vg-agent-bubble-background, light-dark(#eef1f4, #262c36));
	color: var(--vg-agent-bubble-text, var(--text)); border-end-start-radius: 6px }
.user { align-self: end; background: var(--vg-user-bubble-background, var(--own));
	color: var(--vg-user-bubble-text, var(--own-text)); border-end-end-radius: 6px }
/* Each text has its own direction; where it stands is the page's. */
li, h2, input, .hint, .status, .launcher-text { unicode-bidi: plaintext }
li::before { content: attr(data-who); position: absolute; clip-path: inset(50%) }
.partial::after { content: ' …' } .unsent { outline: 2px solid var(--bad) }
.notice { padding: 8px 16px 0 } form { display: flex; gap: 8px; padding: 12px 16px 0 }
/* Of less than 16 px iOS enlarges the page. */
input { flex: 1; min-width: 0; font-size: 16px; border: 1px solid var(--line); border-radius: 22px; padding: 0 16px;
	background: var(--field) }
input::placeholder { color: var(--quiet); opacity: 1 }
.controls { display: flex; justify-content: center; gap: 12px; padding: 12px 16px 16px }
.newest { align-self: end; margin: -52px 16px 8px; box-shadow: 0 2px 8px #0004; z-index: 1 }
.mute { background: var(--vg-mute-background, var(--field)); color: var(--vg-mute-icon, var(--text)) }
.mute[aria-pressed=true] { background: var(--vg-mute-active-background, var(--bad));
	color: var(--vg-mute-icon, var(--on)) }
.send, .retry, .hold, .mute.begin { background: var(--accent); color: var(--on) }
.hold, .mute.begin { display: flex; align-items: center; gap: 8px; padding: 0 20px; font-weight: 600 }
.hold { white-space: nowrap; touch-action: none; user-select: none; -webkit-touch-callout: none; }
.hold[aria-pressed=true] { box-shadow: 0 0 0 5px color-mix(in srgb, var(--accent) 35%, transparent) }
.error { padding: 28px 24px 12px; align-items: center; gap: 8px } .error > svg { color: var(--bad); width: 36px }
h2, .error button { font-weight: 600; padding: 0 20px }
/* Above what was said, where a conversation is held up. */
.banner { display: flex; padding-block: 8px; padding-inline: 16px 8px; border-bottom: 1px solid var(--line) }
.banner > svg { width: 22px; flex: none } .banner h2 { flex: 1; padding: 0; font-size: 14px }
.banner :is(.hint, .dismiss) { display: none } .banner .controls { padding: 0 }
:host(:is(${faces}, [mode=conversation])) { display: block; height: 100% }
:host(:is(${faces}, [mode=conversation])) .card { width: 100%; height: 100%; border: 0; box-shadow: none;
	border-radius: 0 }
:host([mode=conversation]) :is(.stage, .end, .toggle) { display: none } :host(:is(${faces})) .card { background: none }
:host(:is(${faces})) .stage { height: 100%; padding: 0 }
/* On a phone, and above its keyboard, a conversation has the whole screen. */
@media (max-width: 480px), (max-height: 440px) {
	.hold svg { display: none }
	:host([position*='-']) .tall { position: fixed; inset: 0; width: 100%; max-width: none; height: 100vh; height: 100dvh;
		border: 0; border-radius: 0 } .tall .stage { display: none } }
/* The card grows out of its corner, and goes back there. */
@media (prefers-reduced-motion: no-preference) {
	.pop { transition: opacity .18s, scale .18s, display .18s allow-discrete; transform-origin: 20% 0 }
	:host([position^=bottom]) .pop { transform-origin: 50% 100% }
	.pop[hidden] { opacity: 0; scale: .92; position: absolute; z-index: -1; pointer-events: none }
	:host([position^=bottom]) .pop[hidden] { bottom: 0 } :host([position$=right]) .pop[hidden] { right: 0 }
	@starting-style { .pop { opacity: 0; scale: .92 } } }
@media (prefers-reduced-motion: reduce) { * { animation: none !important; transition: none !important } }
@media (forced-colors: active) { button, li { border: 1px solid } }
`)

/** The parts; the first class of each is its name. Without markup in a text, so pages that trust none may have it. */
export const layout = () => {
	const part = (tag, name, given, ...children) => h(tag, { class: name, ...given }, ...children)
	return h('div', {},
		part('button', 'launcher', {}, part('slot', 'launcher-icon'), part('span', 'launcher-text')),
		part('section', 'card', {},
			part('div', 'stage', {}, part('canvas', 'canvas', { role: 'img' })),
			part('p', 'status'),
			part('ol', 'transcript', { tabindex: 0 }),
			part('button', 'newest'),
			part('p', 'notice', { role: 'alert' }),
			part('form', 'composer', {}, part('input', 'input', { autocomplete: 'off', maxlength: 10000 }), part('button', 'send')),
			part('div', 'controls', {}, part('button', 'hold', {}, icon('microphone'), part('span', 'hold-text')),
				part('button', 'mute'), part('button', 'toggle'), part('button', 'end'))),
		part('section', 'error card', { role: 'alert' },
			part('h2', 'title'), part('p', 'hint'),
			part('div', 'controls', {}, part('button', 'retry'), part('button', 'dismiss'))),
		part('div', 'said', { role: 'status' }))
}

/** Shows of the parts what belongs to a state, and says in them what there is to say. */
export function show(parts, now) {
	const { mood, muted, error, held, isFace, isRound, text } = now
	const isBanner = held && !isFace && now.isOpened
	const state = isBanner ? held : now.state
	const isList = state === 'transcript' && !isFace
	const isBusy = state === 'loading' || state === 'connecting'
	const isCardOfError = error && !isBanner && now.isOpened
	// A page that tells by itself of its connection can leave this out.
	parts.error.part = now.isConnected ? 'error' : 'error disconnected'
	if (isBanner !== (parts.error.parentNode === parts.card)) {
		if (isBanner) parts.card.prepend(parts.error)
		else parts.card.after(parts.error)
		parts.error.className = isBanner ? 'error banner' : 'error card'
	}
	Object.entries({
		launcher: !isFace && !isCardOfError && !isBanner && (isBusy || error || state === 'collapsed'), error: isBanner || (!isFace && isCardOfError),
		card: isFace || isList || state === 'expanded', transcript: isList, composer: isList && now.canAnswer,
		newest: isList && !now.isPinned, status: !isFace && now.canTalk && !isBanner, controls: !isFace, notice: now.notice,
		hold: now.canHold && !now.canBegin && !muted, mute: now.canBegin || (now.canMute && (muted || !now.canHold)),
		toggle: !isRound,
	}).forEach(([name, isShown]) => (parts[name].hidden = !isShown))
	parts.card.classList.toggle('pop', now.isWidget)
	parts.stage.dataset.picture = now.picture
	parts['hold-text'].textContent = text('hold')
	parts.hold.ariaPressed = now.isPressed
	parts.hold.disabled = !now.isConnected
	parts.launcher.className = `launcher${isRound ? ' round' : ''}${isBusy ? ' busy' : ''}${error ? ' bad' : ''}`
	// What stands in the slot is the page's own, but an error is to be seen.
	parts['launcher-icon'].name = error ? 'none' : 'icon'
	const [shown] = parts['launcher-icon'].children
	if (error || state === 'connecting' || !now.logo) {
		parts['launcher-icon'].replaceChildren(icon(error ? 'error' : state === 'connecting' ? 'end' : 'bars'))
	} else if (shown?.src !== now.logo) {
		parts['launcher-icon'].replaceChildren(h('img', { src: now.logo, alt: '', crossorigin: '' }))
	}
	parts['launcher-text'].textContent = error?.message ?? text(state === 'collapsed' ? 'start' : state)
	if (parts.notice.textContent !== now.notice) parts.notice.textContent = now.notice
	parts.title.textContent = error?.message
	parts.hint.textContent = error?.hint
	parts.card.classList.toggle('tall', isList)
	for (const name of ['toggle', 'transcript', 'end', 'send', 'input', 'newest', 'canvas', 'error']) parts[name].ariaLabel = text(name)
	for (const name of ['retry', 'dismiss']) parts[name].textContent = text(name)
	parts.card.ariaLabel = text(isFace ? 'face' : 'card')
	parts.transcript.dataset.empty = text('empty')
	parts.status.textContent = now.picture === 'muted' && !now.canBegin ? text('muted') : text(mood, mood === 'listening' ? '' : now.label)
	parts.input.placeholder = text('message')
	// A draft and its cursor stay while the connection is lost.
	parts.input.disabled = now.isReadOnly || (!now.isConnected && !isBanner)
	parts.send.disabled = !now.isConnected || now.isReadOnly
	parts.mute.disabled = now.isReadOnly && !now.hasStreams
	parts.mute.ariaPressed = now.canBegin ? null : muted
	parts.mute.ariaLabel = text(now.canBegin ? 'begin' : 'mute')
	parts.mute.className = now.canBegin ? 'mute begin' : 'mute'
	parts.mute.replaceChildren(icon(muted && !now.canBegin ? 'silent' : 'microphone'), now.canBegin ? h('span', {}, text('begin')) : '')
	parts.toggle.ariaPressed = isList
	parts.toggle.replaceChildren(icon(isList ? 'bars' : 'talk'))
}
