// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Waits for what is done elsewhere.
func finish<Result>(_ body: @escaping () async throws -> Result) throws -> Result {
    let box = Box<Result>()
    let work = UncheckedWork(body: body)
    let done = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    sem_init(done, 0, 0)
    defer { done.deallocate() }
    let place = UInt(bitPattern: done)
    Task.detached {
        do { box.result = .success(try await work.body()) } catch { box.result = .failure(error) }
        sem_post(UnsafeMutablePointer<sem_t>(bitPattern: place)!)
    }
    while sem_wait(done) != 0 {}
    return try box.result!.get()
}

private final class Box<Value>: @unchecked Sendable {
    // Sendable: the semaphore comes between who writes and who reads.
    var result: Swift.Result<Value, any Error>?
}

private struct UncheckedWork<Value>: @unchecked Sendable {
    // Sendable: whoever gave it waits for its end.
    let body: () async throws -> Value
}
