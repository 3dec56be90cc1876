// The time by which a call has to end, and the check whether it was cancelled earlier.
//
// Threads: any; values.

/// A time on a monotonic clock, or none.
struct Deadline: Sendable {
    private let instant: ContinuousClock.Instant?

    private init(_ instant: ContinuousClock.Instant?) { self.instant = instant }

    /// No end.
    static let never = Deadline(nil)

    /// Once that long has passed from now.
    static func after(_ duration: Duration) -> Deadline { Deadline(.now + duration) }

    var isOver: Bool { instant.map { $0 <= .now } ?? false }

    /// The one that comes first.
    func earlier(_ other: Deadline) -> Deadline {
        guard let instant else { return other }
        guard let second = other.instant else { return self }
        return Deadline(min(instant, second))
    }

    /// How long it is until then, as `poll` takes it: rounded up, so that it is over afterwards; -1 without an end.
    func milliseconds(atMost limit: Int? = nil) -> CInt {
        guard let instant else { return CInt(limit ?? -1) }
        let left = instant - .now
        guard left > .zero else { return 0 }
        let (seconds, attoseconds) = left.components
        // A day at a time: longer does not fit into what `poll` takes, and who waits looks again.
        let milliseconds = min(seconds, 86_400) * 1000 + attoseconds / 1_000_000_000_000_000 + 1
        return CInt(min(Int(milliseconds), limit ?? .max))
    }
}

/// How long a call may take.
struct CallBound: Sendable {
    var deadline: Deadline
    /// Asked about every `lookInterval` milliseconds while the call waits; true gives it up.
    var isCancelled: (@Sendable () -> Bool)?

    init(_ deadline: Deadline = .never, isCancelled: (@Sendable () -> Bool)? = nil) {
        self.deadline = deadline
        self.isCancelled = isCancelled
    }

    static func within(_ duration: Duration) -> CallBound { CallBound(.after(duration)) }

    /// Short for a person who presses a button, long for a processor.
    static let lookInterval = 50

    /// Why the call has to end, if it has to.
    var end: CallEnd? {
        if isCancelled?() == true { return .cancelled }
        return deadline.isOver ? .timedOut : nil
    }

    /// How long `poll` may wait before somebody looks again.
    var pollMilliseconds: CInt {
        deadline.milliseconds(atMost: isCancelled == nil ? nil : Self.lookInterval)
    }
}

/// Why a call ended before what it waited for.
enum CallEnd: Sendable {
    case timedOut, cancelled
}
