// SPDX-License-Identifier: Apache-2.0
import API
import NodeKit

/// The call that lets a page play takes: its player can send no header with a token.
enum TicketCall {
    static func call(_ tokens: Tokens) -> HostCall {
        HostCall(
            "ticket",
            "what the sound of takes is fetched with where no header can be sent: /api/takes/ID/audio?ticket=...",
            change: false, right: .operator,
            results: [Field("ticket", VG_STRING, "good for the sound of takes alone, until the run ends")]
        ) { _, _ in [("ticket", .string(tokens.audio.text))] }
    }
}
