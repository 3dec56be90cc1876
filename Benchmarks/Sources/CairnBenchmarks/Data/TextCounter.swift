// Counts equal texts by their bytes, without making strings: a hash table of open addressing beside one
// buffer of the texts.

/// How often each text was added.
struct TextCounter {
    private struct Entry {
        var hash: UInt64 = 0
        var start: Int = 0
        var length: Int = 0
        var count: Int = 0
    }

    private var entries = [Entry](repeating: Entry(), count: 1024)
    private var texts: [UInt8] = []
    private var used = 0

    mutating func add(_ text: UnsafeRawBufferPointer) {
        if used * 2 >= entries.count { grow() }
        let hash = Self.hash(text)
        var place = Int(truncatingIfNeeded: hash) & (entries.count - 1)
        while entries[place].count > 0 {
            let entry = entries[place]
            if entry.hash == hash && entry.length == text.count && isEqual(entry, text) {
                entries[place].count += 1
                return
            }
            place = (place + 1) & (entries.count - 1)
        }
        entries[place] = Entry(hash: hash, start: texts.count, length: text.count, count: 1)
        texts.append(contentsOf: text)
        used += 1
    }

    /// The counts of all texts.
    var groups: Groups {
        var groups = Groups()
        for entry in entries where entry.count > 0 { groups.add(entry.count) }
        return groups
    }

    private func isEqual(_ entry: Entry, _ text: UnsafeRawBufferPointer) -> Bool {
        texts.withUnsafeBytes {
            UnsafeRawBufferPointer(rebasing: $0[entry.start..<entry.start + entry.length])
                .elementsEqual(text)
        }
    }

    private mutating func grow() {
        let old = entries
        entries = [Entry](repeating: Entry(), count: old.count * 2)
        for entry in old where entry.count > 0 {
            var place = Int(truncatingIfNeeded: entry.hash) & (entries.count - 1)
            while entries[place].count > 0 { place = (place + 1) & (entries.count - 1) }
            entries[place] = entry
        }
    }

    private static func hash(_ text: UnsafeRawBufferPointer) -> UInt64 {
        var hash = UInt64(text.count) &* 0x9E37_79B9_7F4A_7C15
        var place = 0
        while place + 8 <= text.count {
            mix(&hash, text.loadUnaligned(fromByteOffset: place, as: UInt64.self))
            place += 8
        }
        var rest: UInt64 = 0
        while place < text.count {
            rest = rest << 8 | UInt64(text[place])
            place += 1
        }
        mix(&hash, rest)
        return hash
    }

    @inline(__always)
    private static func mix(_ hash: inout UInt64, _ word: UInt64) {
        hash = (hash ^ word) &* 0xBF58_476D_1CE4_E5B9
        hash ^= hash >> 29
    }
}

/// The groups of at least two rows, and how many rows they have.
struct Groups: Equatable {
    private(set) var count = 0
    private(set) var rows = 0

    init() {}

    /// The groups of rows that were counted by their texts.
    init(_ counts: [String: Int]) {
        for size in counts.values { add(size) }
    }

    mutating func add(_ size: Int) {
        guard size >= 2 else { return }
        count += 1
        rows += size
    }

    var text: String { "\(count):\(rows)" }
}
