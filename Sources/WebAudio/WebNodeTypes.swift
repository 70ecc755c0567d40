// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// The node types `web-input` and `web-output`. Made once and never freed. [control]
public var webNodeTypes: [UnsafePointer<vg_node_type>] { cachedTypes.list }

private struct TypeList: @unchecked Sendable {
    // Sendable: written once, before anyone can see it.
    let list: [UnsafePointer<vg_node_type>]
}

private let cachedTypes = TypeList(list: [makeNodeType(WebInput.self), makeNodeType(WebOutput.self)])
