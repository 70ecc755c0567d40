// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Echo cancellers on people's voices in two rooms that are computed: what they take away, what they leave of a second talker
/// who is as loud as the echo, and what they cost. An engine that is not installed is left out.
func echoBenchmark(_ effort: Effort) throws -> [Row] {
    let prose = Recording.all().prose
    guard prose.count >= 3 else { return [.missing("echo", "pocketsphinx-testdata")] }
    let far = leveled(prose.dropLast().flatMap { readSpeech($0.path) })
    let near = [Float](repeating: 0, count: 8 * echoRate) + leveled(readSpeech(prose[prose.count - 1].path))
    let scratch = try Scratch()
    var rows: [Row] = []
    for engine in ["kalman", "speex", "webrtc"] {
        progress("conversation: \(engine) takes away an echo")
        var (early, late, lost) = ([Double](), [Double](), [Double]())
        var isThere = true
        for (reverberation, delay) in [(0.25, 0.012), (0.5, 0.025)] {
            let heard = inRoom(far, reverberation: reverberation, delay: delay)
            let speakers = heard.indices.map { heard[$0] + ($0 < near.count ? near[$0] : 0) }
            guard let one = try cancel(effort, scratch, engine, heard, far),
                let both = try cancel(effort, scratch, engine, speakers, far)
            else {
                isThere = false
                break
            }
            func loss(_ signal: [Float], _ given: [Float], _ from: Double, _ to: Double) -> Double {
                10 * log10(power(signal, from, to) / power(given, from, to))
            }
            let end = min(Double(near.count), Double(far.count)) / Double(echoRate)
            early.append(loss(heard, one.given, 2, 4))
            late.append(loss(heard, one.given, 4, Double(far.count) / Double(echoRate)))
            lost.append(loss(near, both.given, 8, end))
        }
        guard isThere, let cost = try processorTime(effort, scratch, engine, far) else {
            rows.append(.missing("echo", engine))
            continue
        }
        rows += [
            Row("ERLE in the third and fourth second", engine, early, "dB"),
            Row("ERLE after that", engine, late, "dB"), Row("loss of a second talker", engine, lost, "dB"),
            Row("processor time for a second of audio", engine, cost.map { $0 * 1000 }, "ms"),
        ]
        guard engine == "kalman" else { continue }
        let count = rows.count
        rows[count - 4] = rows[count - 4].aiming(">= 25", (early.min() ?? 0) >= 25)
        rows[count - 3] = rows[count - 3].aiming(">= 25", (late.min() ?? 0) >= 25)
        rows[count - 2] = rows[count - 2].aiming("< 3", (lost.max() ?? 9) < 3)
    }
    return rows
}

private let echoRate = 48000

/// Renders what an engine gives; nil: it cannot be used. `heard` and `far` are files that are there already.
private func cancel(
    _ effort: Effort, _ scratch: Scratch, _ engine: String?, _ heard: [Float], _ far: [Float]
) throws -> (given: [Float], time: Double)? {
    try writeWave(heard, scratch.place("heard.wav"))
    try writeWave(far, scratch.place("far.wav"))
    let links =
        engine == nil ? "\"heard -> out\", \"far -> rest\"" : "\"heard -> echo -> out\", \"far -> echo.reference\""
    let node =
        engine.map { "[node.echo]\ntype = \"echo\"\nengine = \"\($0)\"\ntail_ms = 300\nrequired = true" }
        ?? "[node.rest]\ntype = \"gain\""
    let file = try scratch.file(
        "echo.conf",
        """
        [graph]
        name = "vg-echo"
        links = [\(links)]
        [node.heard]
        type = "file"
        path = "heard.wav"
        [node.far]
        type = "file"
        path = "far.wav"
        \(node)
        [node.out]
        type = "output"
        channels = 1
        """)
    let child = try Child([
        effort.command, "render", file, "-o", scratch.place("given.wav"), "--rate", "\(echoRate)", "--block", "128",
        "--duration", "\(Double(far.count) / Double(echoRate))",
    ])
    defer { child.stop() }
    if child.waitForEnd(seconds: 300) != 0 {
        child.stop()
        if child.lastLines.contains("cannot load") { return nil }
        throw BenchmarkError(child.lastLines)
    }
    return (readFloats(scratch.place("given.wav")), child.processorTime)
}

/// Seconds of a processor for a second of audio: what is the same without the node falls away.
private func processorTime(
    _ effort: Effort, _ scratch: Scratch, _ engine: String, _ far: [Float]
) throws -> [Double]? {
    let heard = inRoom(far, reverberation: 0.25, delay: 0.012)
    var times: [Double] = []
    for _ in 0..<effort.runs {
        guard let with = try cancel(effort, scratch, engine, heard, far),
            let without = try cancel(effort, scratch, nil, heard, far)
        else { return nil }
        times.append((with.time - without.time) * Double(echoRate) / Double(far.count))
    }
    return times
}

// MARK: Signals

private func power(_ samples: [Float], _ from: Double, _ to: Double) -> Double {
    let last = min(samples.count, Int(to * Double(echoRate)))
    return samples[Int(from * Double(echoRate))..<last].reduce(1e-9) { $0 + Double($1 * $1) }
}

/// At -26 dBFS (root mean square), as telephony has it.
private func leveled(_ samples: [Float]) -> [Float] {
    let square = samples.reduce(0) { $0 + Double($1 * $1) } / Double(max(1, samples.count))
    let gain = Float(pow(10, -26.0 / 20) / square.squareRoot())
    return samples.map { $0 * gain }
}

/// What a microphone hears in a room, as loud as it is played, with noise at -65 dBFS: the way, and reflections at random
/// times that die away.
private func inRoom(_ played: [Float], reverberation: Double, delay: Double) -> [Float] {
    var state: UInt32 = 7
    func random() -> Double {
        state = state &* 1_664_525 &+ 1_013_904_223
        return Double(state >> 8) / Double(1 << 24)
    }
    var taps: [(place: Int, gain: Float)] = [(Int(delay * Double(echoRate)), 1)]
    for index in 0..<Int(reverberation * 2000) {
        let time = (Double(index) + random()) / 2000
        let gain = 0.4 * pow(10, -3 * time / reverberation) * (random() < 0.5 ? -1 : 1)
        taps.append((Int((delay + 0.002 + time) * Double(echoRate)), Float(gain)))
    }
    var heard = [Float](repeating: 0, count: played.count)
    for (place, gain) in taps where place < heard.count {
        for index in place..<heard.count { heard[index] += gain * played[index - place] }
    }
    let noise = Float(3.0.squareRoot() * pow(10, -65.0 / 20))
    return leveled(heard).map { $0 + noise * Float(2 * random() - 1) }
}

/// The samples of a WAV file with a head of 44 bytes, 16 bits at 16 kHz, on straight lines at the rate.
private func readSpeech(_ path: String) -> [Float] {
    let bytes = Array(readBytes(path).dropFirst(44))
    let samples = stride(from: 0, to: bytes.count - 1, by: 2).map {
        Float(Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)) / 32768
    }
    return samples.indices.flatMap { index -> [Float] in
        let next = index + 1 < samples.count ? samples[index + 1] : 0
        return (0..<3).map { samples[index] + (next - samples[index]) * Float($0) / 3 }
    }
}

/// The samples of a mono WAV file of floats.
private func readFloats(_ path: String) -> [Float] {
    let bytes = readBytes(path)
    guard let data = bytes.firstRange(of: Array("data".utf8)) else { return [] }
    let first = data.upperBound + 4
    return stride(from: first, to: bytes.count - 3, by: 4).map { place in
        Float(bitPattern: (0..<4).reduce(0) { $0 | UInt32(bytes[place + $1]) << UInt32(8 * $1) })
    }
}

private func readBytes(_ path: String) -> [UInt8] {
    guard let file = fopen(path, "r") else { return [] }
    defer { fclose(file) }
    fseek(file, 0, SEEK_END)
    var bytes = [UInt8](repeating: 0, count: max(0, ftell(file)))
    rewind(file)
    let count = fread(&bytes, 1, bytes.count, file)
    return Array(bytes.prefix(count))
}

private func writeWave(_ samples: [Float], _ path: String) throws {
    func word(_ value: Int, _ bytes: Int = 4) -> [UInt8] { (0..<bytes).map { UInt8(value >> (8 * $0) & 255) } }
    let size = samples.count * 4
    var bytes = Array("RIFF".utf8) + word(36 + size) + Array("WAVEfmt ".utf8) + word(16) + word(3, 2) + word(1, 2)
    bytes += word(echoRate) + word(echoRate * 4) + word(4, 2) + word(32, 2) + Array("data".utf8) + word(size)
    guard let file = fopen(path, "w") else { throw BenchmarkError("cannot write \(path)") }
    defer { fclose(file) }
    guard fwrite(bytes, 1, bytes.count, file) == bytes.count,
        samples.withUnsafeBytes({ fwrite($0.baseAddress, 1, size, file) }) == size
    else { throw BenchmarkError("cannot write \(path)") }
}
