// A value under a lock, and threads that wait for a condition on it.
//
// `Mutex` has no way to wait for a condition, and semaphores of other libraries are invisible to the thread
// sanitizer; the system's own mutex and condition have neither problem. Waiting blocks the thread: it waits
// for another thread in a system call, never for a task.
//
// Threads: any.

import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A value that one thread at a time can use, and on which threads can wait.
package final class Monitor<Value>: @unchecked Sendable {
    // The value is touched only by the thread that has the mutex. Behind a pointer, an access is not guarded twice.
    private let value: UnsafeMutablePointer<Value>
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    package init(_ value: sending Value) {
        self.value = .allocate(capacity: 1)
        self.value.initialize(to: value)
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        let isReady = pthread_mutex_init(mutex, nil) == 0 && pthread_cond_init(condition, nil) == 0
        precondition(isReady, "the system has no more locks to give")
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
        value.deinitialize(count: 1)
        value.deallocate()
    }

    /// Runs a closure while no other thread has access to the value.
    package func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }

    /// Runs a closure, and wakes all waiting threads, so that they check again.
    package func update<R>(_ body: (inout Value) -> R) -> R {
        pthread_mutex_lock(mutex)
        defer {
            pthread_mutex_unlock(mutex)
            pthread_cond_broadcast(condition)
        }
        return body(&value.pointee)
    }

    /// Waits until a closure returns a result; it is called again whenever the value was updated.
    package func wait<R>(for body: (inout Value) -> R?) -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value.pointee) { return result }
            pthread_cond_wait(condition, mutex)
        }
    }

    /// The same with a deadline on the clock of `MonotonicTime`: returns nil if the closure returned nothing
    /// by then.
    package func wait<R>(until moment: MonotonicTime, for body: (inout Value) -> R?) -> R? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value.pointee) { return result }
            let left = moment.secondsFromNow
            guard left > 0 else { return nil }
            // The system's condition uses the wall clock, which may be set: so in short steps.
            var time = timespec()
            clock_gettime(CLOCK_REALTIME, &time)
            let nanoseconds = time.tv_nsec + Int(min(left, 0.5) * 1e9)
            time.tv_sec += nanoseconds / 1_000_000_000
            time.tv_nsec = nanoseconds % 1_000_000_000
            pthread_cond_timedwait(condition, mutex, &time)
        }
    }
}

/// A moment on a clock that is never set.
package struct MonotonicTime: Sendable, Comparable {
    private let seconds: Double

    private init(seconds: Double) { self.seconds = seconds }

    package static var now: MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(seconds: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9)
    }

    package var secondsFromNow: Double { seconds - Self.now.seconds }

    package static func < (left: Self, right: Self) -> Bool { left.seconds < right.seconds }
    package static func + (left: Self, seconds: Double) -> Self {
        Self(seconds: left.seconds + seconds)
    }
}
