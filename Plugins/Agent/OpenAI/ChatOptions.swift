// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// The settings of the backend openai.
struct ChatOptions {
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
        guard var url = settings.string("url"), !url.isEmpty else {
            throw NodeError(
                "the backend \"openai\" needs the url", hint: "as in url = \"http://localhost:8080/v1\"", key: "url")
        }
        guard url.hasPrefix("http://") || url.hasPrefix("https://"), !url.contains(where: \.isWhitespace) else {
            throw NodeError("the url must begin with http:// or https://", key: "url")
        }
        if url.firstRange(of: "://").map({ url[$0.upperBound...].prefix { $0 != "/" }.contains("@") }) ?? false {
            throw NodeError("no user or password in the url", hint: "key_env or key_file hold the key", key: "url")
        }
        while url.hasSuffix("/") { url.removeLast() }
        self.url = url.hasSuffix("/chat/completions") ? url : url + "/chat/completions"
        guard let model = settings.string("model"), !model.isEmpty else {
            throw NodeError("the backend \"openai\" needs the model", hint: "as the endpoint calls it", key: "model")
        }
        self.model = model
        system = settings.string("system")
        temperature = settings.number("temperature")
        connectTime = settings.number("connect_time") ?? 5
        tokenTime = settings.number("token_time") ?? 30
        silenceTime = settings.number("silence_time") ?? 15
        retries = settings.integer("retries") ?? 3
        retryWait = settings.number("retry_wait") ?? 0.5
        longestAnswer = settings.integer("longest_answer") ?? 100_000
    }

    static let settings = [
        Setting(
            "url", VG_SET_STRING, "of the backend openai: where /chat/completions is, as in https://HOST/v1",
            names: .address),
        Setting("model", VG_SET_STRING, "as the endpoint calls it"),
        Setting("system", VG_SET_STRING, "what the model is told before anything is said"),
        Setting(
            "temperature", VG_SET_NUMBER, "how freely the model chooses; without it, as the endpoint has it",
            range: 0...2),
        Setting("key_env", VG_SET_STRING, "the variable that holds the key", names: .variable),
        Setting("key_file", VG_SET_STRING, "the file that holds the key; nobody else may read it", names: .file),
        Setting(
            "connect_time", VG_SET_NUMBER, "how long connecting may take", default: "5", range: 0.1...600, unit: "s"),
        Setting(
            "token_time", VG_SET_NUMBER, "how long it may take from there to the first word", default: "30",
            range: 0.1...3600, unit: "s"),
        Setting(
            "silence_time", VG_SET_NUMBER, "how long nothing may come within an answer", default: "15",
            range: 0.1...3600, unit: "s"),
        Setting(
            "retries", VG_SET_INTEGER,
            "how often a request is made again when the endpoint cannot be reached or is busy",
            default: "3", range: 0...20),
        Setting(
            "retry_wait", VG_SET_NUMBER, "before the first retry; it doubles each time", default: "0.5",
            range: 0.01...60, unit: "s"),
    ]
}
