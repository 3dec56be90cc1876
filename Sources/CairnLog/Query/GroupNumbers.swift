// Numbers the values that come by: equal ones get the same number, new ones the next.
//
// Open addressing at most five eighths full. A run of bytes is kept once, one after the other in one piece of memory, with
// its hash beside its number, so that most steps look at no bytes.
//
// Threads: one reading.

import CCairn

/// Numbers words from 1.
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
        if words.count * 8 > (1 << bits) * 5 { grow() }
        return number
    }

    private func grow() {
        bits += 2
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

    /// Where each run ends, by number; the first begins at 0.
    private var ends: [Int] = [0]
    private var hashes: [UInt64] = []
    private var bytes: UnsafeMutableRawPointer
    private var room = 4096
    private var places: UnsafeMutablePointer<Place>
    private var bits = 6

    init() {
        bytes = .allocate(byteCount: room, alignment: 16)
        places = .allocate(capacity: 1 << bits)
        places.initialize(repeating: Place(hash: 0, number: 0), count: 1 << bits)
    }

    deinit {
        bytes.deallocate()
        places.deallocate()
    }

    /// How many there are.
    var count: Int { hashes.count }

    /// The run of a number.
    func run(_ number: UInt32) -> UnsafeRawBufferPointer {
        let start = ends[Int(number) - 1]
        return UnsafeRawBufferPointer(start: bytes + start, count: ends[Int(number)] - start)
    }

    /// The number of a run.
    @inline(__always)
    func number(of run: UnsafeRawBufferPointer) -> UInt32 {
        let hash = KeyBuffer.hash(run, seed: 0)
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
        let start = ends[Int(number) &- 1]
        guard ends[Int(number)] &- start == run.count else { return false }
        guard let base = run.baseAddress, run.count > 0 else { return true }
        return cairn_compare(bytes + start, base, run.count) == 0
    }

    @inline(never)
    private func add(_ run: UnsafeRawBufferPointer, _ hash: UInt64, _ place: Int) -> UInt32 {
        let start = ends[ends.count - 1]
        if start + run.count > room {
            let more = max(room * 2, start + run.count)
            let memory = UnsafeMutableRawPointer.allocate(byteCount: more, alignment: 16)
            memory.copyMemory(from: bytes, byteCount: start)
            bytes.deallocate()
            bytes = memory
            room = more
        }
        if let base = run.baseAddress {
            (bytes + start).copyMemory(from: base, byteCount: run.count)
        }
        ends.append(start + run.count)
        hashes.append(hash)
        let number = UInt32(hashes.count)
        places[place] = Place(hash: UInt32(truncatingIfNeeded: hash), number: number)
        if hashes.count * 8 > (1 << bits) * 5 { grow() }
        return number
    }

    private func grow() {
        bits += 2
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
