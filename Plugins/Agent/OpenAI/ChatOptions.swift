// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// The settings of the backend openai.
struct ChatOptions {
    static let url = Key.text(
        "url", "of the backend openai: where /chat/completions is, as in https://HOST/v1", names: .address)
    static let model = Key.text("model", "as the endpoint calls it")
    static let system = Key.text("system", "what the model is told before anything is said")
    static let temperature = Key.number(
        "temperature", "how freely the model chooses; without it, as the endpoint has it", in: 0...2)
    static let connectTime = Key.number(
        "connect_time", "how long connecting may take", default: 5, in: 0.1...600, unit: "s")
    static let tokenTime = Key.number(
        "token_time", "how long it may take from there to the first word", default: 30, in: 0.1...3600, unit: "s")
    static let silenceTime = Key.number(
        "silence_time", "how long nothing may come within an answer", default: 15, in: 0.1...3600, unit: "s")
    static let retries = Key.integer(
        "retries", "how often a request is made again when the endpoint cannot be reached or is busy", default: 3,
        in: 0...20)
    static let retryWait = Key.number(
        "retry_wait", "before the first retry; it doubles each time", default: 0.5, in: 0.01...60, unit: "s")

    let url: String
    let model: String
    let system: String?
    let temperature: Double?
    let connectTime: Double
    let tokenTime: Double
    let silenceTime: Double
    let retries: Int
    let retryWait: Double
    let longestAnswer: Int

    init(_ settings: Settings) throws(NodeError) {
        guard var url = try settings[Self.url], !url.isEmpty else {
            throw NodeError(
                "the backend \"openai\" needs the url", hint: "as in url = \"http://localhost:8080/v1\"",
                key: Self.url.name)
        }
        guard url.hasPrefix("http://") || url.hasPrefix("https://"), !url.contains(where: \.isWhitespace) else {
            throw NodeError("the url must begin with http:// or https://", key: Self.url.name)
        }
        if url.firstRange(of: "://").map({ url[$0.upperBound...].prefix { $0 != "/" }.contains("@") }) ?? false {
            throw NodeError(
                "no user or password in the url", hint: "key_env or key_file hold the key", key: Self.url.name)
        }
        while url.hasSuffix("/") { url.removeLast() }
        self.url = url.hasSuffix("/chat/completions") ? url : url + "/chat/completions"
        guard let model = try settings[Self.model], !model.isEmpty else {
            throw NodeError(
                "the backend \"openai\" needs the model", hint: "as the endpoint calls it", key: Self.model.name)
        }
        self.model = model
        system = try settings[Self.system]
        temperature = try settings[Self.temperature]
        connectTime = try settings[Self.connectTime]
        tokenTime = try settings[Self.tokenTime]
        silenceTime = try settings[Self.silenceTime]
        retries = try settings[Self.retries]
        retryWait = try settings[Self.retryWait]
        longestAnswer = try settings[AgentOptions.longestAnswer]
    }
}
