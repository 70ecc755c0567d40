// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Everything that meter and visualizer measure only for whoever asks: 60 times a second or less, off the audio thread. What
/// nobody has asked for is not measured; while nothing is, no audio leaves the audio thread.
///
/// All but `init` on the control thread of the node.
final class Analyzer {
    /// What it measures, in the order in which it is declared.
    enum Measure: Int, CaseIterable {
        case truePeak, momentary, shortTerm, integrated, range, correlation, goniometer, waveform, scope, bands,
            spectrum, fineSpectrum, fastSpectra, waveforms
    }

    private let channels: Int
    private let host: NodeHost
    /// Of the first of its series among those of the node.
    private let first: Int
    private let bandRange: BandRange
    /// Whether the report is measured, whoever reads what.
    private let reports: Bool
    private var pipe: CapturePipe?
    private var rate = 0.0
    /// So many 60ths of a second make one frame of each series: one of `steps`.
    var step = 1
    static let steps = [1, 2, 3, 6]
    /// The same for the frame that is begun.
    private var currentStep = 1
    /// What makes one frame, channel after channel, and how much of it is there.
    private var samples = Samples(count: 0)
    private var interval = 1
    private var filled = 0
    /// Why something is not measured.
    private var failures: [String] = []

    private var loudness: Loudness?
    private var truePeak: TruePeakMeter?
    private var stereo: StereoField?
    private var scope: Scope?
    private var spectrum: Spectrum?
    private var spectrogram: Spectrogram?
    private var bands: Bands?
    private(set) var report: MeasuredReport?
    private var isOffline = false

    init(channels: Int, host: NodeHost, first: Int, bands: BandRange = BandRange(), reports: Bool = false) {
        self.reports = reports
        self.channels = channels
        self.host = host
        self.first = first
        bandRange = bands
    }

    /// Begins anew; the audio half's end of it. What was prepared before must not run any more.
    func prepare(_ preparation: Preparation) -> CapturePipe.Writer {
        rate = preparation.rate
        isOffline = preparation.offline
        forget()
        makeRoom()
        let pipe = CapturePipe(channels: channels, frames: Int(rate / 5), maxBlock: preparation.maxBlock)
        self.pipe = pipe
        pipe.isOpen = reports || !wanted().isEmpty
        report = nil
        resetReport()
        return pipe.writer
    }

    /// For the next frame, when there is nothing of it yet.
    private func makeRoom() {
        currentStep = step
        interval = step * max(1, Int(rate / 60 + 0.5))
        samples = Samples(count: interval * channels)
        scope = scope.map { _ in Scope(interval: interval) }
    }

    private func wanted() -> Set<Measure> {
        let wanted = host.wantedSeries
        return Set(Measure.allCases.filter { wanted >> UInt64(first + $0.rawValue) & 1 == 1 })
    }

    /// The report begins anew.
    func resetReport() {
        guard reports else { return }
        report = made { () throws(NodeError) in
            try MeasuredReport(channels: channels, rate: rate, isOffline: isOffline)
        }
    }

    private func forget() {
        filled = 0
        (loudness, truePeak, stereo, scope, spectrum, bands, spectrogram) = (nil, nil, nil, nil, nil, nil, nil)
    }

    /// Measures what has come since the last time.
    func poll() {
        guard let pipe else { return }
        let wanted = wanted()
        if wanted.isEmpty, !reports {
            guard pipe.isOpen else { return }
            pipe.isOpen = false
            while pipe.take() != nil {}
            return forget()
        }
        if !pipe.isOpen { pipe.isOpen = true }
        choose(wanted)
        while let audio = pipe.take() { take(audio, wanted) }
        let dropped = pipe.takeDropped()
        if dropped > 0 { host.count("dropped_analysis", dropped) }
    }

    /// What nobody asks for any more begins anew with the next who does.
    private func choose(_ wanted: Set<Measure>) {
        let isLoud = !wanted.isDisjoint(with: [.momentary, .shortTerm, .integrated, .range])
        loudness =
            isLoud ? loudness ?? made { () throws(NodeError) in try Loudness(channels: channels, rate: rate) } : nil
        truePeak =
            wanted.contains(.truePeak)
            ? truePeak ?? made { () throws(NodeError) in try TruePeakMeter(channels: channels, rate: rate) } : nil
        stereo = wanted.contains(.correlation) ? stereo ?? StereoField(rate: rate) : nil
        scope = wanted.contains(.scope) ? scope ?? Scope(interval: interval) : nil
        let isSpectral = !wanted.isDisjoint(with: [.bands, .spectrum])
        spectrum =
            isSpectral ? spectrum ?? made { () throws(NodeError) in try Spectrum(channels: channels, rate: rate) } : nil
        let isPictured = !wanted.isDisjoint(with: [.fineSpectrum, .fastSpectra])
        spectrogram =
            isPictured
            ? spectrogram ?? made { () throws(NodeError) in try Spectrogram(channels: channels, rate: rate) } : nil
        bands = wanted.contains(.bands) ? bands ?? spectrum.map { Bands(bandRange, of: $0) } : nil
    }

    /// What a library measures; where that is missing, the node says so, and measures the rest.
    private func made<T>(_ make: () throws(NodeError) -> T) -> T? {
        do throws(NodeError) { return try make() } catch {
            let text = error.description
            if !failures.contains(text) {
                failures.append(text)
                host.health(.degraded(failures.joined(separator: "; ")))
            }
            return nil
        }
    }

    private func take(_ audio: CapturePipe.Audio, _ wanted: Set<Measure>) {
        report?.add(audio)
        // Frames of series begin with the first that somebody asks for.
        guard !wanted.isEmpty else { return filled = 0 }
        var start = 0
        while start < audio.frames {
            if filled == 0, currentStep != step { makeRoom() }
            let length = min(audio.frames - start, interval - filled)
            for channel in 0..<channels {
                guard let source = audio.channels[channel] else { continue }
                let target = samples.pointer + channel * interval + filled
                target.update(from: source + start, count: length)
                // One that is no number would stay in every filter and transform.
                for frame in 0..<length where !target[frame].isFinite { target[frame] = 0 }
            }
            start += length
            filled += length
            if filled == interval {
                filled = 0
                emit(wanted, at: audio.position + UInt64(start))
            }
        }
    }

    private func emit(_ wanted: Set<Measure>, at position: UInt64) {
        let samples = UnsafePointer(samples.pointer)
        loudness?.add(samples, frames: interval, sixtieths: currentStep)
        let peaks = truePeak?.add(samples, frames: interval)
        stereo?.add(samples, channels: channels, frames: interval)
        scope?.add(samples, channels: channels)
        spectrum?.add(samples, frames: interval)
        spectrogram?.add(samples, frames: interval)
        let rows = wanted.sorted { $0.rawValue < $1.rawValue }.compactMap {
            measure -> (series: Int, values: [Float])? in
            let values: [Float]? =
                switch measure {
                case .truePeak: peaks
                case .momentary: loudness.map { [$0.momentary] }
                case .shortTerm: loudness.map { [$0.shortTerm] }
                case .integrated: loudness.map { [$0.integrated] }
                case .range: loudness.map { [$0.range] }
                case .correlation: stereo.map { [$0.correlation] }
                case .goniometer: StereoField.points(samples, channels: channels, frames: interval)
                case .waveform: extremes(0..<channels)
                case .scope: scope?.trace
                case .bands: bands?.next(currentStep)
                case .spectrum: spectrum?.decibels
                case .fineSpectrum: spectrogram?.fine
                case .fastSpectra: spectrogram?.fast
                case .waveforms: (0..<channels).flatMap { extremes($0..<$0 + 1) }
                }
            return values.map { (first + measure.rawValue, $0) }
        }
        if !rows.isEmpty { host.publish(rows, at: position) }
    }

    /// Columns of a waveform in one 60th of a second.
    static let columns = 16

    /// The least and the largest sample of some channels, column by column.
    private func extremes(_ channels: Range<Int>) -> [Float] {
        (0..<Self.columns).flatMap { column -> [Float] in
            let start = column * interval / Self.columns
            let end = max((column + 1) * interval / Self.columns, start + 1)
            var (least, largest) = (Float.infinity, -Float.infinity)
            for channel in channels {
                for frame in start..<min(end, interval) {
                    let sample = samples.pointer[channel * interval + frame]
                    least = min(least, sample)
                    largest = max(largest, sample)
                }
            }
            return least <= largest ? [least, largest] : [0, 0]
        }
    }
}

/// Memory for numbers.
final class Samples {
    let pointer: UnsafeMutablePointer<Float>
    let count: Int

    init(count: Int) {
        self.count = count
        pointer = .allocate(capacity: max(1, count))
        pointer.initialize(repeating: 0, count: max(1, count))
    }

    deinit { pointer.deallocate() }
}

extension [Series] {
    /// What `Analyzer` measures, in its order.
    static let analysis = [
        Series(
            "true_peak", "the largest value of each channel, also between its samples (ITU-R BS.1770-4)", unit: "dBTP",
            rate: 60, onRequest: true),
        Series(
            "lufs_m", "momentary loudness, of 400 ms (EBU Tech 3341)", unit: "LUFS", rate: 60, width: 1, onRequest: true
        ),
        Series("lufs_s", "short-term loudness, of 3 s", unit: "LUFS", rate: 60, width: 1, onRequest: true),
        Series(
            "lufs_i", "integrated loudness, since somebody has asked", unit: "LUFS", rate: 60, width: 1, onRequest: true
        ),
        Series("lra", "loudness range since then (EBU Tech 3342)", unit: "LU", rate: 60, width: 1, onRequest: true),
        Series(
            "correlation", "of the first two channels over 300 ms: 1 alike, 0 unrelated, -1 inverted", rate: 60,
            width: 1,
            onRequest: true),
        Series(
            "goniometer", "pairs of side and middle of the first two channels, of samples as they were", rate: 60,
            width: 2 * StereoField.pointCount, onRequest: true),
        Series(
            "waveform", "pairs of the least and the largest sample, one after another", rate: 60,
            width: 2 * Analyzer.columns, onRequest: true),
        Series(
            "scope", "samples of all channels together, from where the wave rises through 0", rate: 60,
            onRequest: true),
        Series(
            "bands", "0 to 1: bands whose edges have equal ratios, scaled to what is heard", rate: 60, onRequest: true),
        Series(
            "spectrum", "the amplitude of a sine at each frequency from 0 to half the rate, in even steps",
            unit: "dBFS",
            rate: 60, onRequest: true),
        Series(
            "fine_spectrum", "the same of a window of up to a fifth of a second", unit: "dBFS", rate: 60,
            onRequest: true),
        Series(
            "fast_spectra",
            "the same of windows of up to a 40th of a second, \(Spectrogram.parts) one after another, in the middle of "
                + "the long one",
            unit: "dBFS", rate: 60, onRequest: true),
        Series(
            "waveforms", "as waveform, of one channel after another", rate: 60, onRequest: true),
    ]
}
