// SPDX-License-Identifier: Apache-2.0
import Host
import NodeKit
import System

/// The screen of `voicegraph top`. All calls may come from any thread.
public final class TopView: DeviceView {
    /// Seconds from one look at the host to the next, for which its history has a sample each.
    public static let interval = 0.5

    private struct Inner: Sendable {
        var state = TopState()
        var history = TopHistory()
        var keys = TopKeys()
        var painter = Painter()
        var width: Int
        var height: Int
        var isStale = true
    }

    private let inner: Lock<Inner>
    private let theme: Theme

    /// An empty screen.
    public init(capabilities: TerminalCapabilities, width: Int, height: Int) {
        theme = Theme(capabilities)
        inner = Lock(Inner(width: width, height: height))
    }

    /// Takes what there is to show. [any]
    public func update(_ state: TopState) {
        inner.withLock { inner in
            inner.history.take(state)
            inner.state = state
            inner.isStale = true
        }
    }

    /// Takes the terminal's size. [any]
    public func resize(width: Int, height: Int) {
        inner.withLock { inner in
            guard width != inner.width || height != inner.height else { return }
            inner.width = width
            inner.height = height
            inner.isStale = true
        }
    }

    /// Takes keys; true: the user asks to quit. [any]
    public func press(_ keys: [KeyPress], at time: Double) -> Bool {
        inner.withLock { inner in
            inner.isStale = true
            return keys.contains { inner.keys.press($0) }
        }
    }

    /// The terminal was used by others: the next frame paints everything. [any]
    public func repaint() {
        inner.withLock { inner in
            inner.painter.forget()
            inner.isStale = true
        }
    }

    /// The bytes that bring the terminal up to date. [any]
    public func frame(at time: Double) -> [UInt8] {
        inner.withLock { inner in
            guard inner.isStale else { return [] }
            inner.isStale = false
            let canvas = TopScreen(theme: theme, state: inner.state, history: inner.history).draw(
                &inner.keys, width: inner.width, height: inner.height)
            return inner.painter.frame(canvas)
        }
    }
}
