// Tells keys that came by once from those that may have come by again, before groups are made of them.
//
// Whoever looks for doubles in what is mostly unique would make a group of nearly every row, and throw nearly all away. Two
// bits for each place of a hash say instead whether it was met, and met again; a place that two keys share keeps both, and
// the groups themselves tell them apart.
//
// Threads: one reading.

import CCairn
import CairnFormat

/// Which hashes were met more than once, or may have been.
final class GroupSieve {
    private let words: UnsafeMutablePointer<UInt64>
    private let bits: Int
    /// Of the rows of the block at hand.
    let hashes: UnsafeMutablePointer<UInt64>

    /// - Parameter rows: about how many hashes there will be.
    init(rows: Int) {
        // Four places for each: one key in five that came by once shares a place. 32 MiB at most: a fuller sieve lets more
        // through, and is not wrong.
        var bits = 10
        while bits < 27, 1 << bits < rows * 4 { bits += 1 }
        self.bits = bits
        let count = 1 << (bits - 5)
        words = .allocate(capacity: count)
        words.initialize(repeating: 0, count: count)
        hashes = .allocate(capacity: FormatLimits.maximumRows)
    }

    deinit {
        words.deallocate()
        hashes.deallocate()
    }

    @inline(__always)
    private func place(_ hash: UInt64) -> (word: Int, shift: UInt64) {
        let place = hash &>> UInt64(64 &- bits)
        return (Int(truncatingIfNeeded: place &>> 5), (place & 31) &* 2)
    }

    /// Notes the first hashes.
    func note(_ count: Int) {
        for index in 0..<count {
            let ahead = index &+ 16
            if ahead < count { cairn_prefetch(words + place(hashes[ahead]).word) }
            let (word, shift) = place(hashes[index])
            // Met once: 01, again: 11.
            words[word] |= (words[word] & (1 &<< shift)) &<< 1 | 1 &<< shift
        }
    }

    /// Keeps the slots, and their hashes, that came by again, and says how many there are.
    func reduce(_ slots: UnsafeMutableBufferPointer<UInt16>) -> Int {
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
