// SPDX-License-Identifier: Apache-2.0

/// The text of a graph: one channel from `in` through `count` nodes to `out`.
func chainText(name: String, count: Int, _ node: String) -> String {
    let names = ["in"] + (0..<count).map { "n\($0)" } + ["out"]
    let links = zip(names, names.dropFirst()).map { "  \"\($0) -> \($1)\",\n" }.joined()
    var text = "[graph]\nname = \"\(name)\"\nlinks = [\n\(links)]\n\n"
    text += "[node.in]\ntype = \"input\"\nchannels = 1\n\n[node.out]\ntype = \"output\"\nchannels = 1\n"
    for index in 0..<count { text += "\n[node.n\(index)]\n\(node)\n" }
    return text
}

let amp = "http://lv2plug.in/plugins/eg-amp"
