import CairnFormat
import CairnStore

extension PastStateRetention {
    /// The retention from stored settings.
    init(_ settings: AsOfSettings?) {
        guard let settings else {
            self = .off
            return
        }
        if let count = settings.transactions {
            self = .transactions(Int(clamping: count))
        } else if let seconds = settings.seconds {
            self = .seconds(Double(seconds))
        } else {
            self = .all
        }
    }

    var keptTransactions: UInt64? {
        guard case .transactions(let count) = self else { return nil }
        return min(UInt64(count), AsOfSettings.limit - 1)
    }

    /// Whole seconds, rounded up.
    var keptSeconds: UInt64? {
        guard case .seconds(let seconds) = self else { return nil }
        return UInt64(seconds.rounded(.up))
    }
}
