// What the peers that keep bytes have in common: a look at rows without any order or index is a walk over
// records, of which only what matches is decoded.

/// A peer that keeps rows as records.
protocol RecordPeer: Peer {
    /// Every record; it is there as long as the closure runs.
    func eachRecord(_ body: (UnsafeRawBufferPointer) -> Void)
}

extension RecordPeer {
    func countMatches() -> Int {
        var count = 0
        eachRecord { if Record.matches($0) { count += 1 } }
        return count
    }

    func matches(_ body: (Product) -> Void) {
        eachRecord { if Record.matches($0) { body(Record.decode($0)) } }
    }

    func every(_ body: (Product) -> Void) { eachRecord { body(Record.decode($0)) } }

    func groups(by text: ProductText) -> Groups {
        var counter = TextCounter()
        eachRecord { counter.add(Record.bytes(text, $0)) }
        return counter.groups
    }
}

extension Child {
    /// The child as bytes: its amount, then its label.
    var record: [UInt8] { withUnsafeBytes(of: amount) { Array($0) } + label.utf8 }

    /// The child that bytes say.
    @inline(__always)
    init(record: UnsafeRawBufferPointer) {
        self.init(
            label: String(decoding: record.dropFirst(8), as: UTF8.self),
            amount: record.loadUnaligned(as: Int64.self))
    }
}
