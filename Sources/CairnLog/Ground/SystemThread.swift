// A system thread: code that blocks in system calls or computes for long must not run on the threads of the
// concurrency runtime.
//
// Threads: any.

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A detached thread.
package final class SystemThread: Sendable {
    private let body: @Sendable () -> Void

    /// An identifier that no other running thread has.
    static var current: UInt {
        #if canImport(Darwin)
            UInt(bitPattern: Int(bitPattern: pthread_self()))
        #else
            UInt(bitPattern: Int(pthread_self()))
        #endif
    }

    private init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    /// Runs a closure in a new thread, which ends with it; returns false if the system has no more threads.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        SystemThread(body).start()
    }

    private func start() -> Bool {
        var thread = pthread_t(bitPattern: 0)
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
        defer { pthread_attr_destroy(&attributes) }
        let context = Unmanaged.passRetained(self).toOpaque()
        #if canImport(Darwin)
            let code = pthread_create(&thread, &attributes, { SystemThread.enter($0) }, context)
        #else
            let code = pthread_create(
                &thread, &attributes, { $0.flatMap { SystemThread.enter($0) } }, context)
        #endif
        // A thread that was not created does not release its context.
        if code != 0 { Unmanaged<SystemThread>.fromOpaque(context).release() }
        return code == 0
    }

    private static func enter(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        Unmanaged<SystemThread>.fromOpaque(context).takeRetainedValue().body()
        return nil
    }
}
