// SPDX-License-Identifier: Apache-2.0
import API
import NodeKit

/// The call that lets a page play and save files: what does that can send no header with a token.
enum TicketCall {
    static func call(_ tokens: Tokens) -> HostCall {
        HostCall(
            "ticket",
            "what the sound of takes is fetched with where no header can be sent: /api/takes/ID/audio?ticket=...",
            change: false, right: .operator,
            results: [Field("ticket", VG_STRING, "good for takes and transcripts as files, until the run ends")]
        ) { _, _ in [("ticket", .string(tokens.download.text))] }
    }
}
