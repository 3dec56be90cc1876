// Separates keys that occurred once from those that may have occurred again, before groups are created.
//
// A search for duplicates among mostly unique rows would create a group of nearly every row, and discard
// nearly all of them. Instead, two bits for each place of a hash record whether it occurred, and occurred
// again; if two keys share a place, both are kept, and the groups themselves distinguish them.
//
// Threads: one writes; any number may ask it afterwards.

import CCairn

/// The hashes that occurred more than once, or may have.
final class GroupSieve {
    private let words: UnsafeMutablePointer<UInt64>
    private let bits: Int

    /// - Parameters:
    ///   - rows: the approximate number of hashes.
    ///   - others: the number of other sieves that will be merged into this one.
    init(rows: Int, others: Int = 0) {
        // Four places for each: one unique key in five shares a place. 32 MiB at most, together with the
        // others: a fuller sieve lets more through, and is not wrong.
        var bits = 10
        while bits < 27, (others + 1) << bits < 1 << 27, 1 << bits < rows * 4 { bits += 1 }
        self.bits = bits
        words = .allocate(capacity: 1 << (bits - 5))
        words.initialize(repeating: 0, count: 1 << (bits - 5))
    }

    deinit { words.deallocate() }

    @inline(__always)
    private func place(_ hash: UInt64) -> (word: Int, shift: UInt64) {
        let place = hash &>> UInt64(64 &- bits)
        return (Int(truncatingIfNeeded: place &>> 5), (place & 31) &* 2)
    }

    /// Records some hashes.
    func note(_ hashes: UnsafeBufferPointer<UInt64>) {
        for index in hashes.indices {
            let ahead = index &+ 16
            if ahead < hashes.count { cairn_prefetch(words + place(hashes[ahead]).word) }
            let (word, shift) = place(hashes[index])
            // Occurred once: 01, again: 11.
            words[word] |= (words[word] & (1 &<< shift)) &<< 1 | 1 &<< shift
        }
    }

    /// Records what another sieve of the same size has recorded.
    func note(_ other: GroupSieve) {
        precondition(bits == other.bits, "sieves of different sizes cannot be merged")
        let met: UInt64 = 0x5555_5555_5555_5555
        for index in 0..<1 << (bits - 5) {
            let (mine, its) = (words[index], other.words[index])
            words[index] = mine | its | (mine & its & met) &<< 1
        }
    }

    /// The number of places that occurred again: those of repeated keys, and nearly as many that several keys
    /// share.
    var again: Int {
        (0..<1 << (bits - 5)).reduce(0) { $0 + (words[$1] & 0xAAAA_AAAA_AAAA_AAAA).nonzeroBitCount }
    }

    /// Keeps the slots, and their hashes, that occurred again, and returns their number.
    func reduce(
        _ slots: UnsafeMutableBufferPointer<UInt16>, _ hashes: UnsafeMutablePointer<UInt64>
    ) -> Int {
        var kept = 0
        for index in slots.indices {
            let ahead = index &+ 16
            if ahead < slots.count { cairn_prefetch(words + place(hashes[ahead]).word) }
            let (word, shift) = place(hashes[index])
            slots[kept] = slots[index]
            hashes[kept] = hashes[index]
            kept &+= Int(truncatingIfNeeded: words[word] &>> (shift &+ 1) & 1)
        }
        return kept
    }
}
