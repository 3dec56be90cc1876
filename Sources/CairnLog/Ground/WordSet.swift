// Sets for loops over cells: of words, and of byte strings.
//
// Open addressing, at most half full, so a lookup ends at a free place after a step or two. Nothing is added
// once the set is created.
//
// Threads: immutable after init, so any.

import CCairn

/// A set of 64-bit words.
final class WordSet: @unchecked Sendable {
    // Written in init alone; the memory lives as long as the object.

    private let places: UnsafeMutablePointer<UInt64>
    private let shift: UInt64
    private let mask: Int
    /// Zero marks a free place, so it is kept separately.
    private let hasZero: Bool
    let count: Int

    init(_ words: some Collection<UInt64>) {
        var bits = 3
        while 1 << bits < words.count * 2 { bits += 1 }
        mask = 1 << bits - 1
        shift = UInt64(64 - bits)
        places = .allocate(capacity: 1 << bits)
        places.initialize(repeating: 0, count: 1 << bits)
        var hasZero = false
        var count = 0
        for word in words {
            guard word != 0 else {
                if !hasZero { count += 1 }
                hasZero = true
                continue
            }
            var place = Self.home(word, shift)
            while places[place] != 0, places[place] != word { place = (place + 1) & mask }
            if places[place] == 0 { count += 1 }
            places[place] = word
        }
        self.hasZero = hasZero
        self.count = count
    }

    deinit { places.deallocate() }

    @inline(__always)
    private static func home(_ word: UInt64, _ shift: UInt64) -> Int {
        Int(truncatingIfNeeded: (word &* 0x9E37_79B9_7F4A_7C15) &>> shift)
    }

    @inline(__always)
    func contains(_ word: UInt64) -> Bool {
        if word == 0 { return hasZero }
        var place = Self.home(word, shift)
        while true {
            let found = places[place]
            if found == word { return true }
            if found == 0 { return false }
            place = (place &+ 1) & mask
        }
    }
}

/// A set of runs of bytes.
final class BytesSet: @unchecked Sendable {
    // Written in init alone; the memory lives as long as the object.

    private struct Place {
        var hash: UInt64 = 0
        var start = 0
        /// Negative: the place is free.
        var count = -1
    }

    private let data: UnsafeMutableRawPointer
    private let places: UnsafeMutablePointer<Place>
    private let mask: Int
    private let keptBits: UInt64

    /// - Parameter seed: that of the state whose cells are searched.
    init(_ members: [[UInt8]], seed: UInt64) {
        var capacity = 8
        while capacity < members.count * 2 { capacity *= 2 }
        mask = capacity - 1
        keptBits = StoredHash.wholeMask(seed)
        places = .allocate(capacity: capacity)
        places.initialize(repeating: Place(), count: capacity)
        data = .allocate(byteCount: max(1, members.reduce(0) { $0 + $1.count }), alignment: 8)
        var end = 0
        for member in members {
            member.withUnsafeBytes { member in
                let hash = cairn_hash64(member.baseAddress, member.count, 0) & keptBits
                guard find(member, hash) == nil else { return }
                if let from = member.baseAddress {
                    (data + end).copyMemory(from: from, byteCount: member.count)
                }
                var place = Int(truncatingIfNeeded: hash) & mask
                while places[place].count >= 0 { place = (place + 1) & mask }
                places[place] = Place(hash: hash, start: end, count: member.count)
                end += member.count
            }
        }
    }

    deinit {
        places.deallocate()
        data.deallocate()
    }

    @inline(__always)
    func contains(_ bytes: UnsafeRawBufferPointer) -> Bool {
        find(bytes, cairn_hash64(bytes.baseAddress, bytes.count, 0) & keptBits) != nil
    }

    @inline(__always)
    private func find(_ bytes: UnsafeRawBufferPointer, _ hash: UInt64) -> Int? {
        var index = Int(truncatingIfNeeded: hash) & mask
        while places[index].count >= 0 {
            let place = places[index]
            if place.hash == hash, place.count == bytes.count {
                guard let base = bytes.baseAddress, place.count > 0 else { return index }
                if cairn_equal(data + place.start, base, place.count) != 0 { return index }
            }
            index = (index &+ 1) & mask
        }
        return nil
    }
}

/// A set of object numbers: one bit each, in pages of 65,536 that are allocated when needed.
final class OwnerSet {
    private let pages: UnsafeMutablePointer<UnsafeMutablePointer<UInt64>?>
    private let pageCount: Int
    private static let words = 1024

    /// An empty set of numbers below an end.
    init(below end: UInt32) {
        pageCount = Int(end >> 16) + 1
        pages = .allocate(capacity: pageCount)
        pages.initialize(repeating: nil, count: pageCount)
    }

    deinit {
        for index in 0..<pageCount { pages[index]?.deallocate() }
        pages.deallocate()
    }

    /// Inserts a number; ignores one that is out of range.
    func insert(_ number: UInt32) {
        let index = Int(number >> 16)
        guard index < pageCount else { return }
        let page: UnsafeMutablePointer<UInt64>
        if let known = pages[index] {
            page = known
        } else {
            page = .allocate(capacity: Self.words)
            page.initialize(repeating: 0, count: Self.words)
            pages[index] = page
        }
        page[Int(number >> 6) & (Self.words - 1)] |= 1 << UInt64(number & 63)
    }

    @inline(__always)
    func contains(_ number: UInt32) -> Bool {
        let index = Int(number >> 16)
        guard index < pageCount, let page = pages[index] else { return false }
        return page[Int(number >> 6) & (Self.words - 1)] & (1 << UInt64(number & 63)) != 0
    }
}
