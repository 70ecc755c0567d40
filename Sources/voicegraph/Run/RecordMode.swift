// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Host

extension RecordingMode: ExpressibleByArgument {
    /// What is said of the modes, one a line.
    static let help = """
        Modes: default and measurement record what comes; measurement refuses what would change it, --rate and lossy \
        files. voice, as for a call: without what lies below 100 Hz, pauses 18 dB quieter, even, at most -1 dBTP. \
        spoken, as for a talk: without what lies below 80 Hz, hisses softer, even, at most -1 dBTP.
        """

    /// Why a file of this name cannot be recorded so; nil: it can.
    func fault(in path: String, hasRate: Bool) -> String? {
        if self == .measurement, hasRate {
            return "--mode measurement records at the rate of the audio: leave --rate out"
        }
        return fault(in: path).map { "--mode \(rawValue) \($0)" }
    }
}
