// Objects whose ids refer to other objects.                                     Format 78, F-781 to F-787

/// The payload of a redirects frame.
package struct RedirectsPayload: Sendable, Hashable {
    /// The redirect of one object's number.
    package struct Entry: Sendable, Hashable {
        /// The object that was deleted.
        package var old: UInt32
        /// The object that its id refers to; 0: none, since the old object exists again.
        package var new: UInt32
        /// From 1, one more for each entry of the same number: the entry with the largest turn is in force.
        /// (F-782)
        package var turn: UInt32

        package init(old: UInt32, new: UInt32, turn: UInt32) {
            self.old = old
            self.new = new
            self.turn = turn
        }
    }

    /// The entries of one tree.
    package struct Group: Sendable, Hashable {
        package var tree: UInt32
        /// Ascending by number; at least one.
        package var entries: [Entry]

        package init(tree: UInt32, entries: [Entry]) {
            self.tree = tree
            self.entries = entries
        }
    }

    package static let headSize = 8
    static let groupSize = 8
    package static let entrySize = 12
    /// The maximum number of entries that a writer puts into a frame: more go into another one.
    package static let mostEntries = 65_536

    /// Ascending by tree; at least one.
    package var groups: [Group]

    package init(groups: [Group]) { self.groups = groups }

    /// The number of entries.
    package var count: Int { groups.reduce(0) { $0 + $1.entries.count } }

    package func encode(to writer: inout ByteWriter) {
        precondition(
            !groups.isEmpty && groups.allSatisfy { !$0.entries.isEmpty }
                && count <= Self.mostEntries,
            "a redirects frame has entries, and not too many")
        writer.append(UInt32(groups.count))
        writer.append(UInt32(0))
        for group in groups {
            writer.append(group.tree)
            writer.append(UInt32(group.entries.count))
            for entry in group.entries {
                writer.append(entry.old)
                writer.append(entry.new)
                writer.append(entry.turn)
            }
        }
    }

    package init(decoding payload: UnsafeRawBufferPointer) throws(FormatError) {
        var reader = ByteReader(payload)
        let count = try reader.integer(UInt32.self)
        try reader.zeros(4)
        groups = []
        for _ in 0..<count {
            let group = try reader.redirectsGroup(after: groups.last?.tree ?? 0)
            groups.append(group)
        }
        guard count > 0 else {
            throw FormatError(.malformed, "F-781", "the redirects frame has no entries", at: 0)
        }
        try reader.end()
    }
}

extension ByteReader {
    fileprivate mutating func redirectsGroup(after before: UInt32) throws(FormatError)
        -> RedirectsPayload.Group
    {
        let start = offset
        let tree = try integer(UInt32.self)
        let count = try integer(UInt32.self)
        guard tree > before, count > 0,
            UInt64(count) * UInt64(RedirectsPayload.entrySize) <= UInt64(remaining)
        else {
            throw FormatError(
                .malformed, "F-781", "the redirects of a tree contradict themselves", at: start,
                found: UInt64(count))
        }
        var entries: [RedirectsPayload.Entry] = []
        entries.reserveCapacity(Int(count))
        var last: UInt32 = 0
        for _ in 0..<count {
            let at = offset
            let entry = RedirectsPayload.Entry(
                old: try integer(), new: try integer(), turn: try integer())
            guard entry.old > last, entry.old <= FormatLimits.maximumNumber,
                entry.new <= FormatLimits.maximumNumber, entry.new != entry.old, entry.turn > 0
            else {
                throw FormatError(
                    .malformed, "F-781", "a redirect contradicts itself", at: at,
                    found: UInt64(entry.old))
            }
            last = entry.old
            entries.append(entry)
        }
        return RedirectsPayload.Group(tree: tree, entries: entries)
    }
}
