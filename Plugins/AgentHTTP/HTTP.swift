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
    /// 0: it is complete; 1: more came than was wanted, and it was ended. Else what went wrong, as bytes.
    case end = 3
}

/// Begins to post to an address; `headers` are names and values in turn, with NULL at the end. Of the answer `most` bytes
/// are taken. `told` is called from a thread of the system's until `vg_http_end` has returned. NULL: that is no address. [any]
@c(vg_http_post) public func post(
    _ url: UnsafePointer<CChar>, _ headers: UnsafePointer<UnsafePointer<CChar>?>, _ body: UnsafePointer<UInt8>,
    _ length: Int, _ most: Int, _ context: UnsafeMutableRawPointer?, _ told: Told
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
    let transfer = Transfer(most, context, told)
    Transfers.begin(request, transfer)
    return Unmanaged.passRetained(transfer).toOpaque()
}

/// Ends a transfer, at whatever point it is. [any]
@c(vg_http_end) public func end(_ transfer: UnsafeMutableRawPointer) {
    let transfer = Unmanaged<Transfer>.fromOpaque(transfer).takeRetainedValue()
    transfer.detach()
    transfer.owner?.end(transfer)
}

/// One request and its answer.
private final class Transfer: @unchecked Sendable {
    // Sendable: `lock` guards what changes; task and owner are set before anybody else has this.
    private let lock = NSLock()
    private let context: UnsafeMutableRawPointer?
    private var told: Told?
    private var hasSent = false
    private var hasEnded = false
    private var room: Int
    var task: URLSessionDataTask?
    var owner: Transfers?

    init(_ most: Int, _ context: UnsafeMutableRawPointer?, _ told: @escaping Told) {
        room = most
        self.context = context
        self.told = told
    }

    /// Nothing is told when this has returned.
    func detach() { lock.withLock { told = nil } }

    /// False: it has ended, or does with this.
    @discardableResult
    func tell(_ happening: Happening, _ number: Int = 0, _ bytes: Data = Data()) -> Bool {
        lock.withLock {
            if hasEnded || told == nil { return false }
            if happening == .sent, hasSent { return true }
            hasSent = true
            if happening == .data { room -= bytes.count }
            if room < 0 {
                hasEnded = true
                told?(context, Happening.end.rawValue, 1, nil, 0)
                return false
            }
            hasEnded = happening == .end
            bytes.withUnsafeBytes {
                told?(context, happening.rawValue, number, $0.bindMemory(to: UInt8.self).baseAddress, $0.count)
            }
            return !hasEnded
        }
    }
}

/// A session, which keeps connections for the next request.
private final class Transfers: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    // Sendable: locks guard what changes.

    private static let newest = Newest()
    private final class Newest: @unchecked Sendable {
        // Sendable: the lock guards it.
        let lock = NSLock()
        var transfers: Transfers?
    }

    private let lock = NSLock()
    private var transfers: [Int: Transfer] = [:]
    private var session: URLSession?

    /// Begins a request, in the newest session.
    static func begin(_ request: URLRequest, _ transfer: Transfer) {
        newest.lock.withLock {
            let transfers = newest.transfers ?? Transfers()
            newest.transfers = transfers
            transfers.begin(request, transfer)
        }
    }

    private func begin(_ request: URLRequest, _ transfer: Transfer) {
        let task = lock.withLock {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.urlCache = nil
            configuration.httpCookieStorage = nil
            let session = session ?? URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
            self.session = session
            let task = session.dataTask(with: request)
            transfers[task.taskIdentifier] = transfer
            transfer.task = task
            transfer.owner = self
            return task
        }
        task.resume()
    }

    /// Ends a transfer. What one that is not complete still brings must keep none waiting: the next has another session.
    func end(_ transfer: Transfer) {
        guard let task = transfer.task, self.transfer(task) != nil else { return }
        Self.newest.lock.withLock { if Self.newest.transfers === self { Self.newest.transfers = nil } }
        task.cancel()
        lock.withLock { session }?.finishTasksAndInvalidate()
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
        // Pieces wait here as fast as they come: one that is too long is ended at once.
        if transfer(dataTask)?.tell(.data, 0, data) == false { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let transfer = lock.withLock { transfers.removeValue(forKey: task.taskIdentifier) }
        let code = (error as? URLError)?.errorCode ?? (error == nil ? 0 : -1)
        let reason = error.map { Data($0.localizedDescription.utf8) } ?? Data()
        transfer?.tell(.end, code, reason)
    }
}
