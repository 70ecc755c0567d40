// SPDX-License-Identifier: Apache-2.0
import System

/// Tries plugins in child processes and finds out what each did: the parent's side of `PluginScanChild`. [control]
struct ScanProcess: Sendable {
    private let trial: ChildTrial
    /// Seconds that a plugin gets which fails at its end: some are still loading when a short trial is over, and cannot
    /// be freed then.
    private static let longScan = 2.0
    private static let stepsAtEnd: [PluginStep] = [.save, .restore, .deactivate, .cleanup]

    /// `patience`: seconds that one call of a plugin may take.
    init(command: [String], patience: Double) { trial = ChildTrial(command: command, patience: patience) }

    /// One verdict per plugin. As long as all goes well one child tries them all; after each failure a new one goes on
    /// with the next.
    func run(_ plugins: [ScannedPlugin]) -> [ScanVerdict] {
        var verdicts: [ScanVerdict] = []
        while verdicts.count < plugins.count {
            var (finished, stumble) = runChild(Array(plugins[verdicts.count...]), seconds: 0)
            verdicts += finished
            guard verdicts.count < plugins.count else { break }
            var alone = [ScanVerdict.fine]
            if !finished.isEmpty, stumble?.isHang == false {
                // Or a thread of one before it fell over what is gone.
                (alone, stumble) = runChild([plugins[verdicts.count]], seconds: 0)
            }
            if let step = stumble.flatMap({ PluginStep(rawValue: $0.step) }), Self.stepsAtEnd.contains(step) {
                (alone, stumble) = runChild([plugins[verdicts.count]], seconds: Self.longScan)
            }
            verdicts.append(
                stumble.map { .fault(ScanFault(text: $0.text, said: $0.said)) } ?? alone.first ?? .fine)
        }
        return verdicts
    }

    /// What came of the plugins that the child came through with, and what it stumbled over then.
    private func runChild(
        _ plugins: [ScannedPlugin], seconds: Double
    ) -> (finished: [ScanVerdict], stumble: ChildTrial.Stumble?) {
        let lines = plugins.map { "\($0.uri)\t\($0.bundle)\t\(seconds)" }
        let (finished, stumble) = trial.run(lines, first: "the reading of its data", seconds: seconds)
        return (
            finished.map { outcome in
                switch outcome {
                case .done, .told: .fine
                case .refused(let reason): .refused(reason)
                }
            }, stumble
        )
    }
}
