// The changes of a commit, for the history.                                    Format 77, F-771 to F-773
//
//   1. `ChangesEncoder` collects the entries of a part, which becomes the payload of a frame. The next part
//      begins once that is written: memory contains only one part, however much a commit changed.
//   2. `ChangesPayload` decodes a payload: either the head alone, which identifies the commit, or all of it.
//
// Threads: an encoder has one owner; a payload is a value.

/// The payload of a changes frame.
package struct ChangesPayload: Sendable, Hashable {
    /// The operation on the objects of an entry. The raw values never change.
    package enum Operation: UInt8, Sendable {
        case insert = 1
        case update = 2
        case delete = 3
        /// Some of the deleted objects were redirected: this names their targets, and another entry the
        /// deletion.
        case redirect = 4
    }

    /// A property as an entry names it.
    package struct Property: Sendable, Hashable {
        /// The property id.
        package var id: UInt32
        /// 0: the property belongs to the objects. Otherwise the entity whose property refers to the owner:
        /// it is the to-many relationship that the schema describes by these two numbers.
        package var through: UInt32

        package init(id: UInt32, through: UInt32 = 0) {
            self.id = id
            self.through = through
        }
    }

    /// A value of a deleted object.
    package enum Cell: Sendable, Hashable {
        case none
        case integer(Int64)
        case double(UInt64)
        case float(UInt32)
        case bytes([UInt8])
        case fixed16([UInt8])
        /// The value had its own frames, and was not kept.
        case notKept
    }

    /// Objects of one entity with the same operation.
    package struct Entry: Sendable, Hashable {
        package var entity: UInt32
        /// nil: an operation of a later version.
        package var operation: Operation?
        /// For updates the changed properties; for deletions those whose values were kept.
        package var properties: [Property]
        /// The numbers of the objects, ascending; no two runs touch.
        package var runs: [ClosedRange<UInt32>]
        /// For deletions: the values, object by object, each in the order of the properties.
        package var cells: [Cell]
        /// For redirected objects: the numbers of their targets.
        package var targets: [UInt32] = []

        /// The number of objects.
        package var count: Int { runs.reduce(0) { $0 + $1.count } }
    }

    package static let headSize = 40
    /// The size of the part of an entry before its properties, in bytes.
    static let entrySize = 16
    /// The maximum size of one of the strings, in bytes.
    package static let maximumText = CommitPayload.maximumText

    /// The part before the entries.
    package struct Head: Sendable, Hashable {
        /// The commit that made the changes.
        package var commit: UInt64
        /// The time of the commit, in seconds since 2001-01-01 UTC.
        package var time: Double
        /// The id of the process that wrote.
        package var process: UInt32
        /// The number of the part, from 0.
        package var part: UInt32
        package var isLast: Bool
        /// The author; empty if unknown, and in all parts except the first.
        package var author: String
        /// The name of the context; empty if it has none, and in all parts except the first.
        package var context: String
        /// The name of the program; empty if unknown, and in all parts except the first.
        package var program: String

        package init(
            commit: UInt64, time: Double, process: UInt32, part: UInt32 = 0, isLast: Bool = true,
            author: String = "", context: String = "", program: String = ""
        ) {
            self.commit = commit
            self.time = time
            self.process = process
            self.part = part
            self.isLast = isLast
            self.author = author
            self.context = context
            self.program = program
        }
    }

    package var head: Head
    package var entries: [Entry]

    /// Decodes a whole payload.
    package init(decoding payload: UnsafeRawBufferPointer) throws(FormatError) {
        var reader = ByteReader(payload)
        let (head, count) = try reader.changesHead()
        guard UInt64(count) * UInt64(Self.entrySize) <= UInt64(reader.remaining) else {
            throw FormatError(
                .malformed, "F-772", "the number of entries is impossible", found: UInt64(count))
        }
        self.head = head
        entries = []
        entries.reserveCapacity(Int(count))
        for _ in 0..<count { entries.append(try reader.changesEntry()) }
        try reader.end()
    }

    /// Decodes the part of a payload before its entries.
    package static func head(of payload: UnsafeRawBufferPointer) throws(FormatError) -> Head {
        var reader = ByteReader(payload)
        return try reader.changesHead().head
    }
}

/// Collects the changes of a commit, one part at a time.
package struct ChangesEncoder: ~Copyable {
    /// The size of a part from which on the next one begins, in bytes.
    package static let partBytes = 4 << 20
    /// The maximum number of runs of an entry: more go into another entry.
    package static let mostRuns = 65_536

    private var body = ByteWriter(capacity: 256)
    private var count: UInt32 = 0
    private var part: UInt32 = 0

    package init() {}

    /// Whether the part must be written before more is added.
    package var isPartFull: Bool { body.count >= Self.partBytes }

    /// Adds objects, in at most `mostRuns` runs.
    ///
    /// - Parameter cells: the values of deleted objects, encoded with `append(cell:)`.
    package mutating func add(
        entity: UInt32, _ operation: ChangesPayload.Operation,
        properties: [ChangesPayload.Property], runs: some Collection<ClosedRange<UInt32>>,
        cells: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
    ) {
        precondition(
            !runs.isEmpty && runs.count <= Self.mostRuns && properties.count <= Int(UInt16.max),
            "an entry has runs, and not too many")
        precondition(!isPartFull, "a part that is full is written before more is added")
        count += 1
        body.append(entity)
        body.append(operation.rawValue)
        body.append(UInt8(0))
        body.append(UInt16(properties.count))
        body.append(UInt32(runs.count))
        body.append(UInt32(cells.count))
        for property in properties {
            body.append(property.id)
            body.append(property.through)
        }
        var before: UInt32 = 0
        for run in runs {
            body.append(varint: run.lowerBound - before)
            body.append(varint: run.upperBound - run.lowerBound)
            before = run.upperBound
        }
        body.append(cells)
    }

    /// Writes the payload of the part.
    ///
    /// - Parameter head: the head of the first part.
    package func encodePart(
        _ head: ChangesPayload.Head, isLast: Bool, to writer: inout ByteWriter
    ) {
        let isFirst = part == 0
        writer.append(head.commit)
        writer.append(double: head.time)
        writer.append(head.process)
        writer.append(part)
        writer.append(UInt32(isLast ? 1 : 0))
        for text in [head.author, head.context, head.program] {
            precondition(
                text.utf8.count <= ChangesPayload.maximumText,
                "names in changes have at most 4,096 bytes")
            writer.append(UInt16(isFirst ? text.utf8.count : 0))
        }
        writer.append(UInt16(0))
        writer.append(count)
        if isFirst {
            writer.append(utf8: head.author)
            writer.append(utf8: head.context)
            writer.append(utf8: head.program)
        }
        writer.append(body.bytes)
    }

    /// Begins the next part.
    package mutating func beginPart() {
        body.reset()
        count = 0
        part += 1
    }
}

extension ByteWriter {
    /// Appends a number in as many groups of seven bits as it requires, the lowest first.
    package mutating func append(varint number: UInt32) {
        var rest = number
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }

    /// Appends a value of a deleted object.
    package mutating func append(cell: ChangesPayload.Cell) {
        switch cell {
        case .none: append(UInt8(0))
        case .integer(let number):
            append(UInt8(1))
            append(number)
        case .double(let bits):
            append(UInt8(2))
            append(bits)
        case .float(let bits):
            append(UInt8(3))
            append(bits)
        case .bytes(let bytes):
            append(UInt8(4))
            append(UInt32(bytes.count))
            bytes.withUnsafeBytes { append($0) }
        case .fixed16(let bytes):
            append(UInt8(5))
            bytes.withUnsafeBytes { append($0) }
        case .notKept: append(UInt8(6))
        }
    }
}

extension ByteReader {
    fileprivate mutating func changesHead() throws(FormatError) -> (
        head: ChangesPayload.Head, entries: UInt32
    ) {
        var head = ChangesPayload.Head(
            commit: try integer(), time: try double(), process: try integer(),
            part: try integer())
        let flags = try integer(UInt32.self)
        let lengths = (
            try integer(UInt16.self), try integer(UInt16.self), try integer(UInt16.self)
        )
        try zeros(2)
        let count = try integer(UInt32.self)
        guard head.commit > 0, head.commit < FormatLimits.maximumLSN, flags <= 1, count > 0,
            head.part == 0 || (lengths.0 == 0 && lengths.1 == 0 && lengths.2 == 0)
        else {
            throw FormatError(
                .malformed, "F-771", "the head of changes contradicts itself", at: 0,
                found: head.commit)
        }
        head.isLast = flags == 1
        head.author = try changesText(lengths.0)
        head.context = try changesText(lengths.1)
        head.program = try changesText(lengths.2)
        return (head, count)
    }

    private mutating func changesText(_ length: UInt16) throws(FormatError) -> String {
        let start = offset
        guard Int(length) <= ChangesPayload.maximumText else {
            throw FormatError(
                .tooLarge, "F-771", "a name in changes is too long", at: start,
                expected: UInt64(ChangesPayload.maximumText), found: UInt64(length))
        }
        guard let text = String(validating: try take(Int(length)), as: UTF8.self) else {
            throw FormatError(.malformed, "F-771", "a name in changes is not UTF-8", at: start)
        }
        return text
    }

    fileprivate mutating func changesEntry() throws(FormatError) -> ChangesPayload.Entry {
        let start = offset
        let entity = try integer(UInt32.self)
        let rawOperation = try integer(UInt8.self)
        try zeros(1)
        let propertyCount = try integer(UInt16.self)
        let runCount = try integer(UInt32.self)
        let cellBytes = try integer(UInt32.self)
        guard entity > 0, rawOperation > 0, runCount > 0,
            UInt64(propertyCount) * 8 + UInt64(runCount) * 2 + UInt64(cellBytes)
                <= UInt64(remaining)
        else {
            throw FormatError(
                .malformed, "F-772", "an entry contradicts itself", at: start,
                found: UInt64(runCount))
        }
        var properties: [ChangesPayload.Property] = []
        properties.reserveCapacity(Int(propertyCount))
        for _ in 0..<propertyCount {
            properties.append(.init(id: try integer(), through: try integer()))
        }
        let runs = try changesRuns(runCount)
        let operation = ChangesPayload.Operation(rawValue: rawOperation)
        let bytes = try take(Int(cellBytes))
        let isKept = operation == .delete && !properties.isEmpty
        guard isKept || cellBytes == 0 || operation == nil || operation == .redirect,
            operation == .update || operation == .delete || operation == nil || properties.isEmpty
        else {
            throw FormatError(
                .malformed, "F-773", "values of objects that were not deleted", at: start,
                found: UInt64(cellBytes))
        }
        var entry = ChangesPayload.Entry(
            entity: entity, operation: operation, properties: properties, runs: runs, cells: [])
        if operation == .redirect {
            entry.targets = try Self.changesTargets(bytes, entry.count, start)
        }
        guard isKept else { return entry }
        // A cell has at least one byte.
        guard entry.count * properties.count <= bytes.count else {
            throw FormatError(
                .malformed, "F-773", "values of deleted objects are missing", at: start,
                found: UInt64(cellBytes))
        }
        var reader = ByteReader(bytes)
        for _ in 0..<entry.count * properties.count {
            entry.cells.append(try reader.changesCell())
        }
        guard reader.remaining == 0 else {
            throw FormatError(
                .malformed, "F-773", "bytes follow the values of deleted objects", at: start,
                found: UInt64(reader.remaining))
        }
        return entry
    }

    /// Decodes the numbers of redirect targets.
    private static func changesTargets(
        _ bytes: UnsafeRawBufferPointer, _ count: Int, _ start: Int
    ) throws(FormatError) -> [UInt32] {
        guard bytes.count / 4 == count, bytes.count & 3 == 0 else {
            throw FormatError(
                .malformed, "F-773", "the redirects do not name one target for each object",
                at: start,
                found: UInt64(bytes.count))
        }
        var targets: [UInt32] = []
        targets.reserveCapacity(count)
        var reader = ByteReader(bytes)
        for _ in 0..<count {
            let target = try reader.integer(UInt32.self)
            guard target > 0, target <= FormatLimits.maximumNumber else {
                throw FormatError(
                    .malformed, "F-773", "an object is redirected to an impossible number",
                    at: start,
                    found: UInt64(target))
            }
            targets.append(target)
        }
        return targets
    }

    private mutating func changesRuns(_ count: UInt32) throws(FormatError)
        -> [ClosedRange<UInt32>]
    {
        var runs: [ClosedRange<UInt32>] = []
        runs.reserveCapacity(Int(count))
        // The end of the previous run; the next one skips at least one number.
        var before: UInt64 = 0
        for _ in 0..<count {
            let at = offset
            let first = before + UInt64(try varint())
            let last = first + UInt64(try varint())
            guard first > (runs.isEmpty ? 0 : before + 1),
                last <= UInt64(FormatLimits.maximumNumber)
            else {
                throw FormatError(
                    .malformed, "F-772", "the numbers of objects do not rise", at: at, found: first)
            }
            runs.append(
                UInt32(truncatingIfNeeded: first)...UInt32(truncatingIfNeeded: last))
            before = last
        }
        return runs
    }

    private mutating func varint() throws(FormatError) -> UInt32 {
        let start = offset
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 35, by: 7) {
            let byte = try integer(UInt8.self)
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 {
                // Each number has exactly one form.
                guard byte != 0 || shift == 0, number <= UInt64(UInt32.max) else { break }
                return UInt32(truncatingIfNeeded: number)
            }
        }
        throw FormatError(
            .malformed, "F-772", "a number is not in its shortest form", at: start, found: number)
    }

    private mutating func changesCell() throws(FormatError) -> ChangesPayload.Cell {
        let start = offset
        switch try integer(UInt8.self) {
        case 0: return .none
        case 1: return .integer(try integer())
        case 2: return .double(try integer())
        case 3: return .float(try integer())
        case 4: return .bytes(Array(try take(Int(try integer(UInt32.self)))))
        case 5: return .fixed16(Array(try take(16)))
        case 6: return .notKept
        case let kind:
            throw FormatError(
                .malformed, "F-773", "a value of a deleted object is of an unknown kind", at: start,
                found: UInt64(kind))
        }
    }
}
