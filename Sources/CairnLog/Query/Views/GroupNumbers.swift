// Numbers the values it is passed: equal ones get the same number, new ones the next.
//
// Open addressing at most five eighths full. A run of bytes is kept once, one after the other in one piece of memory, with
// its hash beside its number, so that most steps look at no bytes.
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

    /// Makes room for so many words.
    func reserve(_ count: Int) {
        words.reserveCapacity(count)
        resize(for: count)
    }

    /// Gives a word the next number; no word is looked for after that.
    func append(_ word: UInt64) { words.append(word) }

    @inline(__always)
    private func home(_ word: UInt64) -> Int {
        Int(truncatingIfNeeded: (word &* 0x9E37_79B9_7F4A_7C15) &>> UInt64(64 &- bits))
    }

    /// The number of a word.
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
    /// Of those that are looked for.
    private var hashes: [UInt64] = []
    private var places: UnsafeMutablePointer<Place>
    private var bits = 6
    private let keptBits: UInt64

    /// - Parameter seed: that of the state whose values are numbered.
    init(seed: UInt64) {
        keptBits = StoredHash.lowerMask(seed)
        places = .allocate(capacity: 1 << bits)
        places.initialize(repeating: Place(hash: 0, number: 0), count: 1 << bits)
    }

    deinit { places.deallocate() }

    /// How many there are.
    var count: Int { runs.count }

    /// Makes room for so many runs.
    func reserve(_ count: Int) {
        runs.reserve(count)
        hashes.reserveCapacity(count)
        resize(for: count)
    }

    /// The run of a number.
    func run(_ number: UInt32) -> UnsafeRawBufferPointer { runs[Int(number) - 1] }

    /// Gives a run the next number; no run is looked for after that.
    func append(_ run: UnsafeRawBufferPointer) { runs.append(run) }

    /// What a run is looked for by.
    @inline(__always)
    func hash(_ run: UnsafeRawBufferPointer) -> UInt64 { StoredHash.of(run, seed: 0) & keptBits }

    /// Fetches what a search for a hash begins with into the processor's cache.
    @inline(__always)
    func prefetch(_ hash: UInt64) {
        cairn_prefetch(places + Int(truncatingIfNeeded: hash &>> UInt64(64 &- bits)))
    }

    /// Fetches where the run is that the search for a hash begins with.
    @inline(__always)
    func prefetchEnd(_ hash: UInt64) {
        let found = places[Int(truncatingIfNeeded: hash &>> UInt64(64 &- bits))]
        if found.number != 0 { runs.prefetchEnd(Int(found.number &- 1)) }
    }

    /// Fetches the run that the search for a hash begins with.
    @inline(__always)
    func prefetchRun(_ hash: UInt64) {
        let found = places[Int(truncatingIfNeeded: hash &>> UInt64(64 &- bits))]
        if found.number != 0 { runs.prefetch(Int(found.number &- 1)) }
    }

    /// The number of a run.
    @inline(__always)
    func number(of run: UnsafeRawBufferPointer) -> UInt32 { number(of: run, hash(run)) }

    /// The number of a run with its hash.
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
