// SPDX-License-Identifier: Apache-2.0
// The browser's microphone and speakers as nodes of a graph: the page's side, and that of its audio thread.

const header = 8

if (globalThis.registerProcessor) {
	/** Sends what it hears, 512 frames a message. */
	registerProcessor('input', class extends AudioWorkletProcessor {
		#filled = 512
		#position = -512

		constructor({ processorOptions: { stream } }) {
			super()
			this.stream = stream
		}

		process([[samples]]) {
			// While it is muted nothing comes, and nothing is lost.
			if (!samples) return true
			if (this.#filled === 512) {
				this.buffer = new ArrayBuffer(header + 512 * 4)
				this.#position += 512
				this.#filled = 0
				new Uint8Array(this.buffer).set([2, this.stream, 1, 0])
				new DataView(this.buffer).setUint32(4, this.#position, true)
			}
			new Float32Array(this.buffer, header).set(samples, this.#filled)
			this.#filled += 128
			if (this.#filled === 512) this.port.postMessage(this.buffer, [this.buffer])
			return true
		}
	})

	/** Plays what comes: it begins with 40 ms, and again after it ran dry. */
	registerProcessor('output', class extends AudioWorkletProcessor {
		#blocks = []
		#at = 0
		#waiting = 0
		#missing = 0
		#isPlaying = false
		#turns = 0

		constructor({ processorOptions: { channels } }) {
			super()
			this.port.onmessage = ({ data }) => {
				// More than a second waits only where the page stood still.
				if (this.#waiting > sampleRate) [this.#blocks, this.#at, this.#waiting] = [[], 0, 0]
				this.#blocks.push(new Float32Array(data, header))
				this.#waiting += (data.byteLength - header) / 4 / channels
				this.#isPlaying ||= this.#waiting > sampleRate / 25
			}
			this.channels = channels
		}

		process(_, [output]) {
			for (let frame = 0; frame < 128 && this.#isPlaying; frame++) {
				const [block] = this.#blocks
				if (block) {
					output.forEach((samples, i) => (samples[frame] = block[this.#at + Math.min(i, this.channels - 1)]))
					this.#at += this.channels
					this.#waiting--
					if (this.#at >= block.length) [this.#at] = [0, this.#blocks.shift()]
				} else {
					this.#missing += 128 - frame
					this.#isPlaying = false
				}
			}
			if (++this.#turns * 128 > sampleRate / 4) {
				this.port.postMessage([this.#turns = 0, this.#waiting, this.#missing])
			}
			return true
		}
	})
}

/** An error with the word that says it to whoever looks. */
const trouble = word => Object.assign(new Error(word), { word })

/** What browsers have only on pages that came safely, or not at all. */
function check(isInput) {
	const { AudioContext, AudioWorkletNode, isSecureContext, navigator } = globalThis
	if (AudioContext && AudioWorkletNode && 'audioWorklet' in AudioContext.prototype &&
		(!isInput || navigator.mediaDevices?.getUserMedia)) return
	throw trouble(isSecureContext ? 'unsupported' : 'secure')
}

/** The sound of the page, of which there is one: {context, ready}. */
let shared
const listeners = new Set()

/** Whether the browser keeps back what is played until somebody touches the page. */
export const isSuspended = () => !!shared && shared.context.state !== 'running'

/** Calls back when that may have changed; what is returned ends it. */
export function onSuspended(listener) {
	listeners.add(listener)
	return () => listeners.delete(listener)
}

function share() {
	if (shared) return shared
	const context = new AudioContext()
	context.onstatechange = () => listeners.forEach(listener => listener())
	// Only what somebody does on the page may begin its sound.
	const resume = () => listeners.size && context.state !== 'running' && context.resume().catch(() => {})
	for (const kind of ['pointerup', 'click', 'keydown']) addEventListener(kind, resume, true)
	const ready = context.audioWorklet.addModule(import.meta.url)
	ready.catch(() => (shared = undefined, context.close()))
	return (shared = { context, ready })
}

/** Opens the microphone (direction 'input') or the speakers ('output') for a node: {node, waiting, missing, close()};
 * of an input mute(on) too. `waiting` and `missing` are frames that wait to be played, and that came too late; `ended` is
 * called when the microphone has gone. Throws an error with a `word`, or one of the browser. */
export async function openStream(live, node, direction, ended) {
	const isInput = direction === 'input'
	check(isInput)
	let sound
	let source
	let isMuted = false
	const listen = async () => {
		sound = await navigator.mediaDevices.getUserMedia({ audio: { echoCancellation: true, noiseSuppression: true } })
		for (const track of sound.getTracks()) track.onended = ended
	}
	const silence = () => {
		source?.disconnect()
		for (const track of sound ? sound.getTracks() : []) track.stop()
	}
	if (isInput) await listen()
	try {
		const { context, ready } = share()
		await ready
		context.resume().catch(() => {})
		const { stream, channels } =
			await live.call('audio', { node, rate: context.sampleRate, channels: isInput ? 1 : 2 }).catch(async error => {
				const { streams } = await live.call('streams')
				throw streams.find(stream => stream.node === node)?.taken ? trouble('taken') : error
			})
		const processor = new AudioWorkletNode(context, direction, { processorOptions: { stream, channels },
			numberOfInputs: Number(isInput), numberOfOutputs: Number(!isInput), outputChannelCount: isInput ? [] : [2] })
		const hear = () => {
			source = context.createMediaStreamSource(sound)
			source.connect(processor)
		}
		const send = bytes => live.state === 'open' && live.socket.send(bytes)
		const off = isInput ? hear() : live.on('audio', (buffer, number) => {
			if (number === stream) processor.port.postMessage(buffer, [buffer])
		})
		const result = { node, waiting: 0, missing: 0, close() {
			isMuted = true
			off?.()
			silence()
			processor.disconnect()
			live.call('audio.close', { stream }).catch(() => {})
		} }
		if (!isInput) {
			processor.connect(context.destination)
			processor.port.onmessage = ({ data: [, waiting, missing] }) => {
				Object.assign(result, { waiting, missing })
				send(new Uint32Array([3 + 256 * stream, waiting]))
			}
			return result
		}
		processor.port.onmessage = ({ data }) => send(data)
		result.mute = async on => {
			isMuted = on
			if (on) return silence()
			await listen()
			// It may have been closed, or muted again, while the browser asked.
			if (isMuted) silence()
			else hear()
		}
		return result
	} catch (error) {
		silence()
		throw error
	}
}
