// The frame that makes a commit take effect.                            Format 60, F-606

/// The payload of a commit frame.
package struct CommitPayload: Sendable, Hashable {
    /// The maximum size of a name in bytes; writers truncate longer ones.
    package static let maximumText = 4096

    /// The LSN of the commit's first frame; this frame's own LSN if it is the only one.
    package var firstLSN: UInt64
    /// The number of the commit's frames before this one.
    package var frameCount: UInt32
    /// The time of the commit, in seconds since 2001-01-01 UTC.
    package var time: Double
    package var inserted: UInt64
    package var updated: UInt64
    package var deleted: UInt64
    /// The next numbers of the trees whose counters changed, by tree.
    package var counters: [TreeCounter]
    /// The author; empty if unknown.
    package var author: String
    /// The name of the context; empty if it has none.
    package var context: String

    package init(
        firstLSN: UInt64, frameCount: UInt32, time: Double, inserted: UInt64 = 0,
        updated: UInt64 = 0, deleted: UInt64 = 0, counters: [TreeCounter] = [], author: String = "",
        context: String = ""
    ) {
        self.firstLSN = firstLSN
        self.frameCount = frameCount
        self.time = time
        self.inserted = inserted
        self.updated = updated
        self.deleted = deleted
        self.counters = counters
        self.author = author
        self.context = context
    }

    package func encode(to writer: inout ByteWriter) {
        precondition(
            author.utf8.count <= Self.maximumText && context.utf8.count <= Self.maximumText,
            "names in a commit have at most 4,096 bytes")
        writer.append(firstLSN)
        writer.append(frameCount)
        writer.append(UInt32(counters.count))
        writer.append(double: time)
        writer.append(inserted)
        writer.append(updated)
        writer.append(deleted)
        writer.append(UInt16(author.utf8.count))
        writer.append(UInt16(context.utf8.count))
        writer.append(UInt32(0))
        writer.append(counters)
        writer.append(utf8: author)
        writer.append(utf8: context)
    }

    package init(decoding payload: UnsafeRawBufferPointer) throws(FormatError) {
        var reader = ByteReader(payload)
        firstLSN = try reader.integer()
        frameCount = try reader.integer()
        let counterCount = try reader.integer(UInt32.self)
        time = try reader.double()
        inserted = try reader.integer()
        updated = try reader.integer()
        deleted = try reader.integer()
        let authorLength = try reader.integer(UInt16.self)
        let contextLength = try reader.integer(UInt16.self)
        try reader.zeros(4)
        counters = try reader.counters(counterCount)
        author = try reader.text(authorLength)
        context = try reader.text(contextLength)
        try reader.end()
    }
}

extension ByteReader {
    /// Reads a name in a commit.
    fileprivate mutating func text(_ length: UInt16) throws(FormatError) -> String {
        let start = offset
        guard Int(length) <= CommitPayload.maximumText else {
            throw FormatError(
                .tooLarge, "F-606", "a name in a commit is too long", at: start,
                expected: UInt64(CommitPayload.maximumText), found: UInt64(length))
        }
        guard let text = String(validating: try take(Int(length)), as: UTF8.self) else {
            throw FormatError(
                .malformed, "F-606", "a name in a commit is not UTF-8", at: start)
        }
        return text
    }
}
