// Assigns numbers to values: equal values get the same number, new values the next one.
//
// Open addressing at most five eighths full. Each run of bytes is stored once; the runs are contiguous in one
// piece of memory. The hash is stored next to the number, so that most steps read no bytes.
//
// Threads: one reading.

import CCairn

/// Assigns numbers to words, from 1.
final class WordNumbers {
    /// By number less one.
    private(set) var words: [UInt64] = []
    private var places: UnsafeMutablePointer<UInt32>
    private var bits = 6

    init() {
        places = .allocate(capacity: 1 << bits)
        places.initialize(repeating: 0, count: 1 << bits)
    }

    deinit { places.deallocate() }

    /// Reserves capacity for `count` words.
    func reserve(_ count: Int) {
        words.reserveCapacity(count)
        resize(for: count)
    }

    /// Assigns the next number to a word; no word may be looked up after that.
    func append(_ word: UInt64) { words.append(word) }

    @inline(__always)
    private func home(_ word: UInt64) -> Int {
        Int(truncatingIfNeeded: (word &* 0x9E37_79B9_7F4A_7C15) &>> UInt64(64 &- bits))
    }

    /// Returns the number of a word.
    @inline(__always)
    func number(of word: UInt64) -> UInt32 {
        let mask = 1 &<< bits &- 1
        var place = home(word)
        while true {
            let number = places[place]
            if number == 0 { return add(word, place) }
            if words[Int(number &- 1)] == word { return number }
            place = (place &+ 1) & mask
        }
    }

    @inline(never)
    private func add(_ word: UInt64, _ place: Int) -> UInt32 {
        words.append(word)
        let number = UInt32(words.count)
        places[place] = number
        if words.count * 8 > (1 << bits) * 5 { resize(for: words.count * 4) }
        return number
    }

    private func resize(for count: Int) {
        while count * 8 > (1 << bits) * 5 { bits += 1 }
        places.deallocate()
        places = .allocate(capacity: 1 << bits)
        places.initialize(repeating: 0, count: 1 << bits)
        let mask = 1 << bits - 1
        for (index, word) in words.enumerated() {
            var place = home(word)
            while places[place] != 0 { place = (place + 1) & mask }
            places[place] = UInt32(index + 1)
        }
    }
}

/// Numbers runs of bytes from 1.
final class ByteNumbers {
    private struct Place: BitwiseCopyable {
        var hash: UInt32
        var number: UInt32
    }

    /// By number less one.
    let runs = ByteRuns()
    /// The hashes of the runs that can be looked up.
    private var hashes: [UInt64] = []
    private var places: UnsafeMutablePointer<Place>
    private var bits = 6
    private let keptBits: UInt64

    /// - Parameter seed: the hash seed of the state whose values are numbered.
    init(seed: UInt64) {
        keptBits = StoredHash.lowerMask(seed)
        places = .allocate(capacity: 1 << bits)
        places.initialize(repeating: Place(hash: 0, number: 0), count: 1 << bits)
    }

    deinit { places.deallocate() }

    /// The number of runs.
    var count: Int { runs.count }

    /// Reserves capacity for `count` runs.
    func reserve(_ count: Int) {
        runs.reserve(count)
        hashes.reserveCapacity(count)
        resize(for: count)
    }

    /// Returns the run of a number.
    func run(_ number: UInt32) -> UnsafeRawBufferPointer { runs[Int(number) - 1] }

    /// Assigns the next number to a run; no run may be looked up after that.
    func append(_ run: UnsafeRawBufferPointer) { runs.append(run) }

    /// Returns the hash by which a run is looked up.
    @inline(__always)
    func hash(_ run: UnsafeRawBufferPointer) -> UInt64 { StoredHash.of(run, seed: 0) & keptBits }

    /// Prefetches the first place of a search for a hash into the processor's cache.
    @inline(__always)
    func prefetch(_ hash: UInt64) {
        cairn_prefetch(places + Int(truncatingIfNeeded: hash &>> UInt64(64 &- bits)))
    }

    /// Prefetches the location of the run that is the first candidate for a hash.
    @inline(__always)
    func prefetchEnd(_ hash: UInt64) {
        let found = places[Int(truncatingIfNeeded: hash &>> UInt64(64 &- bits))]
        if found.number != 0 { runs.prefetchEnd(Int(found.number &- 1)) }
    }

    /// Prefetches the run that is the first candidate for a hash.
    @inline(__always)
    func prefetchRun(_ hash: UInt64) {
        let found = places[Int(truncatingIfNeeded: hash &>> UInt64(64 &- bits))]
        if found.number != 0 { runs.prefetch(Int(found.number &- 1)) }
    }

    /// Returns the number of a run.
    @inline(__always)
    func number(of run: UnsafeRawBufferPointer) -> UInt32 { number(of: run, hash(run)) }

    /// Returns the number of a run with a known hash.
    @inline(__always)
    func number(of run: UnsafeRawBufferPointer, _ hash: UInt64) -> UInt32 {
        let mask = 1 &<< bits &- 1
        var place = Int(truncatingIfNeeded: hash &>> UInt64(64 &- bits))
        while true {
            let found = places[place]
            if found.number == 0 { return add(run, hash, place) }
            if found.hash == UInt32(truncatingIfNeeded: hash), isEqual(run, found.number) {
                return found.number
            }
            place = (place &+ 1) & mask
        }
    }

    @inline(__always)
    private func isEqual(_ run: UnsafeRawBufferPointer, _ number: UInt32) -> Bool {
        let known = runs[Int(number &- 1)]
        guard known.count == run.count else { return false }
        guard let base = run.baseAddress, let other = known.baseAddress else { return true }
        return cairn_equal(other, base, run.count) != 0
    }

    @inline(never)
    private func add(_ run: UnsafeRawBufferPointer, _ hash: UInt64, _ place: Int) -> UInt32 {
        runs.append(run)
        hashes.append(hash)
        let number = UInt32(hashes.count)
        places[place] = Place(hash: UInt32(truncatingIfNeeded: hash), number: number)
        if hashes.count * 8 > (1 << bits) * 5 { resize(for: hashes.count * 4) }
        return number
    }

    private func resize(for count: Int) {
        while count * 8 > (1 << bits) * 5 { bits += 1 }
        places.deallocate()
        places = .allocate(capacity: 1 << bits)
        places.initialize(repeating: Place(hash: 0, number: 0), count: 1 << bits)
        let mask = 1 << bits - 1
        for (index, hash) in hashes.enumerated() {
            var place = Int(truncatingIfNeeded: hash >> UInt64(64 - bits))
            while places[place].number != 0 { place = (place + 1) & mask }
            places[place] = Place(
                hash: UInt32(truncatingIfNeeded: hash), number: UInt32(index + 1))
        }
    }
}
