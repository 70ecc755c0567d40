// SPDX-License-Identifier: Apache-2.0
import Foundation
import FoundationNetworking

/// What is told of a transfer: what happened, a status or nothing, and bytes.
public typealias Told = @convention(c) (UnsafeMutableRawPointer?, Int32, Int, UnsafePointer<UInt8>?, Int) -> Void

/// What may happen to a transfer, in this order: sent, status, then data any number of times, then the end, once.
private enum Happening: Int32 {
    /// It is connected, and takes the request.
    case sent = 0
    /// The status, and as bytes the header Retry-After, if there is one.
    case status = 1
    case data = 2
    /// 0: it is complete. Else what went wrong, as bytes.
    case end = 3
}

/// Begins to post to an address; `headers` are names and values in turn, with NULL at the end. `told` is called from a thread
/// of the system's until `vg_http_end` has returned. NULL: that is no address. [any]
@c(vg_http_post) public func post(
    _ url: UnsafePointer<CChar>, _ headers: UnsafePointer<UnsafePointer<CChar>?>, _ body: UnsafePointer<UInt8>,
    _ length: Int, _ context: UnsafeMutableRawPointer?, _ told: Told
) -> UnsafeMutableRawPointer? {
    guard let url = URL(string: String(cString: url)), url.host != nil else { return nil }
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.httpBody = Data(bytes: body, count: length)
    var header = headers
    while let name = header[0], let value = header[1] {
        request.setValue(String(cString: value), forHTTPHeaderField: String(cString: name))
        header += 2
    }
    // Whoever asks has time limits of its own.
    request.timeoutInterval = 24 * 3600
    let transfer = Transfer(context, told)
    Transfers.shared.begin(request, transfer)
    return Unmanaged.passRetained(transfer).toOpaque()
}

/// Ends a transfer, at whatever point it is. [any]
@c(vg_http_end) public func end(_ transfer: UnsafeMutableRawPointer) {
    let transfer = Unmanaged<Transfer>.fromOpaque(transfer).takeRetainedValue()
    transfer.detach()
    transfer.task?.cancel()
}

/// One request and its answer.
private final class Transfer: @unchecked Sendable {
    // Sendable: `lock` guards what changes; the task is set before anybody else has this.
    private let lock = NSLock()
    private let context: UnsafeMutableRawPointer?
    private var told: Told?
    private var hasSent = false
    var task: URLSessionDataTask?

    init(_ context: UnsafeMutableRawPointer?, _ told: @escaping Told) {
        self.context = context
        self.told = told
    }

    /// Nothing is told when this has returned.
    func detach() { lock.withLock { told = nil } }

    func tell(_ happening: Happening, _ number: Int = 0, _ bytes: Data = Data()) {
        lock.withLock {
            if happening == .sent, hasSent { return }
            hasSent = true
            bytes.withUnsafeBytes {
                told?(context, happening.rawValue, number, $0.bindMemory(to: UInt8.self).baseAddress, $0.count)
            }
        }
    }
}

/// The session of this process, which keeps connections for the next request.
private final class Transfers: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    // Sendable: `lock` guards the table.
    static let shared = Transfers()

    private let lock = NSLock()
    private var transfers: [Int: Transfer] = [:]
    private var session: URLSession?

    func begin(_ request: URLRequest, _ transfer: Transfer) {
        let task = lock.withLock {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.urlCache = nil
            configuration.httpCookieStorage = nil
            let session = session ?? URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
            self.session = session
            let task = session.dataTask(with: request)
            transfers[task.taskIdentifier] = transfer
            transfer.task = task
            return task
        }
        task.resume()
    }

    private func transfer(_ task: URLSessionTask) -> Transfer? { lock.withLock { transfers[task.taskIdentifier] } }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        transfer(task)?.tell(.sent)
    }

    /// An address that leads elsewhere is answered as it is: the key is meant for this one alone.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        let answer = response as? HTTPURLResponse
        let wait = answer?.value(forHTTPHeaderField: "Retry-After") ?? ""
        transfer(dataTask)?.tell(.status, answer?.statusCode ?? 0, Data(wait.utf8))
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transfer(dataTask)?.tell(.data, 0, data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let transfer = lock.withLock { transfers.removeValue(forKey: task.taskIdentifier) }
        let code = (error as? URLError)?.errorCode ?? (error == nil ? 0 : -1)
        let reason = error.map { Data($0.localizedDescription.utf8) } ?? Data()
        transfer?.tell(.end, code, reason)
    }
}
