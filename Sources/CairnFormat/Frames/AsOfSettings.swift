// The retention of past states of a store.                                              Format 79

/// The key `asOf` of the metadata.                                                           F-791
package struct AsOfSettings: Codable, Sendable, Hashable {
    /// A segment that left the store, but that past states require.
    package struct Held: Codable, Sendable, Hashable {
        /// The segment's number.
        package var segment: UInt32
        /// The commit that retired it.
        package var commit: UInt64
        /// When the commit retired it, in whole seconds: rounded up.
        package var time: Int64

        package init(segment: UInt32, commit: UInt64, time: Int64) {
            self.segment = segment
            self.commit = commit
            self.time = time
        }

        /// The size of the entry in a document, with the separator from the next one, in bytes.
        fileprivate var documentBytes: Int {
            #"{"commit":\#(commit),"segment":\#(segment),"time":\#(time)},"#.utf8.count
        }
    }

    /// The oldest commit whose state is available.
    package var horizon: UInt64
    /// The number of commits that the horizon stays behind the newest one; nil: no limit.
    package var transactions: UInt64?
    /// The number of seconds that the horizon stays behind; nil: no limit.
    package var seconds: UInt64?
    /// Ascending by number.
    package var held: [Held]

    /// Numbers of commits and seconds are below this limit.
    package static let limit: UInt64 = 1 << 53

    package init(
        horizon: UInt64, transactions: UInt64? = nil, seconds: UInt64? = nil, held: [Held] = []
    ) {
        self.horizon = horizon
        self.transactions = transactions
        self.seconds = seconds
        self.held = held
    }

    private enum CodingKeys: String, CodingKey { case horizon, transactions, seconds, held }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        horizon = try container.decode(UInt64.self, forKey: .horizon)
        transactions = try container.decodeIfPresent(UInt64.self, forKey: .transactions)
        seconds = try container.decodeIfPresent(UInt64.self, forKey: .seconds)
        held = try container.decodeIfPresent([Held].self, forKey: .held) ?? []
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(horizon, forKey: .horizon)
        try container.encodeIfPresent(transactions, forKey: .transactions)
        try container.encodeIfPresent(seconds, forKey: .seconds)
        if !held.isEmpty { try container.encode(held, forKey: .held) }
    }

    /// Whether its numbers are valid.                                                        F-791
    package var isPossible: Bool {
        guard horizon < FormatLimits.maximumLSN, transactions ?? 0 < Self.limit,
            seconds ?? 0 < Self.limit, transactions == nil || seconds == nil
        else { return false }
        let areRising = zip(held, held.dropFirst()).allSatisfy { $0.segment < $1.segment }
        return areRising
            && held.allSatisfy {
                $0.segment > 0 && $0.commit > 0 && $0.commit < FormatLimits.maximumLSN
                    && $0.time.magnitude < Self.limit
            }
    }

    /// Gives up the oldest states until the segments held for them take `bytes` fewer bytes in the metadata;
    /// returns the numbers of those segments, none if none are held.
    package mutating func giveUp(bytes: Int) -> Set<UInt32> {
        var last: UInt64 = 0
        var freed = 0
        // Segments that the same commit retired are given up together.
        for one in held.sorted(by: { $0.commit < $1.commit })
        where freed < bytes || one.commit == last {
            last = one.commit
            freed += one.documentBytes
        }
        horizon = max(horizon, last)
        let gone = held.filter { $0.commit <= horizon }
        held.removeAll { $0.commit <= horizon }
        return Set(gone.map(\.segment))
    }

    /// Adds a segment that has just been retired.
    package mutating func hold(_ segment: Held) {
        let index = held.firstIndex { $0.segment > segment.segment } ?? held.count
        held.insert(segment, at: index)
    }
}
