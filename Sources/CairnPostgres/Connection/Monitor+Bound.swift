// Waiting with the deadline of a call.

import CairnLog

extension Monitor {
    /// The interval, in seconds, at which a waiting call checks whether it was cancelled.
    private static var step: Double { 0.5 }

    /// Waits until a closure gives a result; it is asked again whenever the value was updated. Nil if the call is over before:
    /// the closure has then given nothing.
    func wait<R>(_ bound: CallBound, for body: (inout Value) -> R?) -> R? {
        while true {
            let milliseconds = bound.pollMilliseconds
            let seconds = milliseconds < 0 ? Self.step : min(Self.step, Double(milliseconds) / 1000)
            if let result = wait(until: .now + seconds, for: body) { return result }
            if bound.end != nil { return nil }
        }
    }
}
