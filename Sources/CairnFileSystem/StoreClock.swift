// The time of day as a dependency, so that a test can set it.

internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The clock for the timestamps of commits.
package protocol StoreClock: Sendable {
    /// Returns the seconds since 2001-01-01 00:00 UTC, the reference date of `Date`.
    func now() -> Double
}

/// The system's clock. It may be set back: code must not rely on it to increase.
package struct SystemClock: StoreClock {
    /// Seconds from 1970-01-01 to 2001-01-01.
    private static let referenceDate = 978_307_200.0

    package init() {}

    package func now() -> Double {
        var time = timespec()
        guard clock_gettime(CLOCK_REALTIME, &time) == 0 else {
            preconditionFailure("the system has no real-time clock")
        }
        return Double(time.tv_sec) - Self.referenceDate + Double(time.tv_nsec) / 1e9
    }
}

/// A clock that stands still until a test moves it.
package final class ManualClock: StoreClock {
    private let time: Mutex<Double>

    package init(_ now: Double = 0) {
        time = Mutex(now)
    }

    package func now() -> Double {
        time.withLock { $0 }
    }

    package func set(_ now: Double) {
        time.withLock { $0 = now }
    }

    /// Moves the clock, backwards if `seconds` is negative.
    package func advance(by seconds: Double) {
        time.withLock { $0 += seconds }
    }
}
