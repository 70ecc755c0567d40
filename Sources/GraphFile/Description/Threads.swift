// SPDX-License-Identifier: Apache-2.0

/// How many threads may run a graph together.
public enum Threads: Sendable, Equatable {
    /// So many, with the audio thread.
    case count(Int)
    /// One for each processor that this process may use.
    case automatic

    /// The most that a file can ask for.
    public static let most = 64

    /// The audio thread alone.
    public static let one = Threads.count(1)
}
