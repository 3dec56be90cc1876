// Asks a server to cancel what a connection is executing. This uses a separate connection.
//
// libpq's call for it blocks as long as the network likes, so a thread of its own makes it: who waits for a server that
// vanished still goes on in time.
//
// Threads: any.

import CLibPQ
import CairnLog

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

final class CancelRequest: @unchecked Sendable {
    // libpq's structure is made before the thread and freed by it; `PQcancel` may be called from any.
    private let request: OpaquePointer
    private let isDone = Monitor(false)

    /// Nil if there is nothing to cancel on the connection.
    init?(_ connection: OpaquePointer) {
        guard let request = PQgetCancel(connection) else { return nil }
        self.request = request
    }

    deinit { PQfreeCancel(request) }

    /// Sends it, without waiting.
    func send() {
        var thread = pthread_t(bitPattern: 0)
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
        defer { pthread_attr_destroy(&attributes) }
        let context = Unmanaged.passRetained(self)
        #if canImport(Darwin)
            let code = pthread_create(
                &thread, &attributes, { CancelRequest.enter($0) }, context.toOpaque())
        #else
            let code = pthread_create(
                &thread, &attributes, { $0.flatMap { CancelRequest.enter($0) } },
                context.toOpaque())
        #endif
        if code != 0 {
            context.release()
            isDone.update { $0 = true }
        }
    }

    /// Waits until the server has taken it: what is sent afterwards cannot be meant. False if that takes too long.
    func finish(_ deadline: Deadline) -> Bool {
        isDone.wait(CallBound(deadline)) { $0 ? true : nil } ?? false
    }

    private static func enter(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        let cancel = Unmanaged<CancelRequest>.fromOpaque(context).takeRetainedValue()
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
            // What became of it shows in what the statement gives.
            _ = PQcancel(cancel.request, text.baseAddress, 256)
        }
        cancel.isDone.update { $0 = true }
        return nil
    }
}
