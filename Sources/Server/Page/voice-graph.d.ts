// SPDX-License-Identifier: Apache-2.0
// The custom element <voice-graph>: import "http://HOST:PORT/voice-graph.js"

/** idle -> initialize -> loading -> collapsed -> start -> connecting -> expanded <-> transcript; error too. */
export type VoiceGraphState = "idle" | "loading" | "collapsed" | "connecting" | "expanded" | "transcript" | "error"
/** What the node that answers does: `waiting`, as it begins, hears the user, who may interrupt it. */
export type VoiceGraphStatus = "idle" | "connecting" | "thinking" | "waiting"
export type VoiceGraphTheme = "light" | "dark" | "system"
export type VoiceGraphPreset = "verdant" | "twilight" | "bloom" | "mystic" | "flare" | "glacier"

export interface VoiceGraphError {
  kind: "initialization" | "connection" | "other"
  /** What is shown, in words for whoever looks. */
  message: string
  hint: string
  /** What the host or the browser told, for whoever runs the page; not shown. */
  reason: string
}

export interface TranscriptItem {
  id: string
  role: "user" | "agent"
  text: string
  /** In seconds of the graph's time. */
  time: number
  /** `unsent`: a typed text that was refused; `isGone`: it was taken back. */
  state: "partial" | "whole" | "unsent"
  isGone?: true
}

/** `state`, `status` and `mute` go up through the page and out of shadow trees; `message` and `error` stay at the element. */
export interface VoiceGraphEvents {
  state: CustomEvent<{ state: VoiceGraphState; previous: VoiceGraphState }>
  status: CustomEvent<{ status: VoiceGraphStatus; label: string }>
  message: CustomEvent<TranscriptItem>
  mute: CustomEvent<{ muted: boolean }>
  error: CustomEvent<VoiceGraphError>
}

/**
 * Attributes: `src` (URL of the server; the origin of the module without it), `token`, `mode` (widget, conversation,
 * face, or a style: orb, bars, wave, meter, spectrum, spectrogram, scope, goniometer, loudness), `theme`, `visualizer` (a style, a node, or both: "bars face"), `preset` (or two
 * colours: "d3ffa6-036b5b"), `icon-only`, `position` (inline, bottom-right, bottom-left, top-right, top-left),
 * `should-initialize` ("false": no network), and `label-...` for each of the words in words.js. It tells `data-state`, `data-status` and `data-muted`.
 *
 * Custom properties, which go before attributes: `--vg-visualizer` (a preset or two colours), `--vg-surface`,
 * `--vg-accent` (one colour from which buttons, bubbles, focus and the picture follow), `--vg-text-primary`, `--vg-text-secondary`, `--vg-input-background`, `--vg-transcript-background`,
 * `--vg-user-bubble-background`, `--vg-user-bubble-text`, `--vg-agent-bubble-background`, `--vg-agent-bubble-text`,
 * `--vg-mute-background`, `--vg-mute-active-background`, `--vg-mute-icon`, `--vg-font`, `--vg-radius`.
 *
 * What the host's `[web]` says of texts, theme, logo and state goes after `labels` and attributes.
 *
 * Slot: `icon`, an image or logo of your own in the launcher; an error shows its own.
 *
 * Parts: launcher, launcher-icon, launcher-text, card, stage, canvas, status, transcript, bubble, user-bubble, agent-bubble, newest, notice,
 * composer, input, send, controls, hold, hold-text, mute, toggle, end, error (disconnected too, while that is why), title, hint, retry, dismiss.
 */
export class VoiceGraph extends HTMLElement {
  /** The attributes of these names; '' and false where there is none. */
  src: string
  token: string
  mode: string
  visualizer: string
  preset: string
  theme: string
  position: string
  iconOnly: boolean
  shouldInitialize: boolean
  readonly state: VoiceGraphState
  readonly status: VoiceGraphStatus
  readonly muted: boolean
  readonly connected: boolean
  readonly error?: VoiceGraphError
  /** 0 to 1, smoothed each 200 ms. */
  readonly level: number
  readonly transcript: Transcript
  /** The browser's sound that is open: frames that wait to be played, and that came too late. */
  readonly streams: { node: string; waiting: number; missing: number }[]
  /** idle or error: connects. */
  initialize(): Promise<void>
  /** collapsed: begins a conversation. */
  start(): Promise<void>
  /** Ends it, also while it begins. */
  end(): void
  mute(on?: boolean): Promise<void>
  unmute(): Promise<void>
  /** Sends a typed text; false: it was blank, or did not arrive. */
  send(text: string): Promise<boolean>
  /** Words of one's own, by the names that words.js has; attributes go before them. */
  labels: Record<string, string>
  /**
   * Gives a token at each connect, instead of the attribute `token`. `refused` is the one that the host has just refused, if
   * that is why: then another is wanted. It is asked again after longer and longer times, 15 s at most, until one is taken.
   */
  getToken?: (refused?: string) => string | Promise<string>
  /** error: connects again now; a conversation that can go on does, else it initializes again. */
  retry(): Promise<void>
  addEventListener<K extends keyof VoiceGraphEvents>(
    type: K, listener: (event: VoiceGraphEvents[K]) => void, options?: boolean | AddEventListenerOptions): void
  addEventListener(
    type: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void
}

/** What was said, in order of time; each item once. */
export class Transcript {
  readonly items: TranscriptItem[]
  /** `text` replaces what the item says, `delta` is appended; a blank whole text takes it back. Tells what changed. */
  put(given: { id: string; role?: "user" | "agent"; text?: string; delta?: string; time?: number; state?: string }):
    TranscriptItem | undefined
}

/** The level 200 ms after `before` when `input` comes. */
export function smooth(before: number, input: number): number
/** Outer and inner colour; of an unknown name those of verdant. */
export function presetColors(name: string): [string, string]
export const presets: Record<VoiceGraphPreset, [string, string]>

declare global {
  interface HTMLElementTagNameMap { "voice-graph": VoiceGraph }
}
