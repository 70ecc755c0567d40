// SPDX-License-Identifier: Apache-2.0

extension ConversationModel {
    /// What of it is shown.
    public enum State: String, Sendable {
        /// Nothing was done yet.
        case idle
        /// The host and who answers are being found.
        case loading
        /// It can start.
        case collapsed
        /// It starts.
        case connecting
        /// It goes on: a picture of the voice is seen.
        case expanded
        /// It goes on: what was said is seen.
        case transcript
        /// It cannot go on: see `failure`.
        case error
    }

    /// How it stands.
    public enum Status: String, Sendable {
        /// Nobody says anything.
        case idle
        /// Whoever answers is being reached.
        case connecting
        /// A reply is made.
        case thinking
        /// A reply is heard, and may be interrupted.
        case waiting
        /// It cannot go on: see `failure`.
        case error
    }

    /// Why it cannot go on.
    public struct Failure: Sendable, Equatable {
        /// "initialization", "connection" or "other".
        public var kind: String
        /// In few words, such as "Connection lost".
        public var message: String
        /// What came of it, for whoever runs the graph.
        public var reason: String
    }
}
