// Rows that are no longer live, by the places of their blocks.         Format 60, F-611 to F-615
//
//   1. `DeathsEncoder` takes the slots block by block and uses the shorter form.
//   2. `DeathsPayload` checks all entries once, then iterates over them without further errors.
//
// Threads: an encoder has one owner; a payload borrows the bytes that it was made from.

/// The representation of an entry's slots. The raw values never change.
package enum DeathsForm: UInt8, Sendable {
    /// Every row of the block.
    case all = 1
    /// A list of slots.
    case slots = 2
    /// One bit for each slot.
    case bitmap = 3
}

/// Appends the entries of a deaths frame.
package struct DeathsEncoder: ~Copyable {
    static let entrySize = 16
    private let start: Int
    private var count: UInt32 = 0

    /// Begins a payload at the end of the writer.
    package init(to writer: inout ByteWriter) {
        start = writer.count
        writer.append(UInt32(0))
        writer.append(UInt32(0))
    }

    /// Whether the payload has no entry yet.
    package var isEmpty: Bool { count == 0 }

    /// Adds dead slots of a block.
    ///
    /// - Parameters:
    ///   - slots: in ascending order, below `rows`, at least one.
    ///   - rows: the number of rows of the block.
    package mutating func add(
        _ block: Place, slots: UnsafeBufferPointer<UInt16>, rows: Int, to writer: inout ByteWriter
    ) {
        precondition(
            !slots.isEmpty && slots.count <= rows && rows <= FormatLimits.maximumRows
                && Int(slots[slots.count - 1]) < rows,
            "slots are inside their block")
        let bitmapSize = (rows + 7) / 8
        count += 1
        if slots.count == rows {
            Self.head(.all, block, dead: rows, length: 0, to: &writer)
        } else if slots.count * 2 <= bitmapSize {
            Self.head(.slots, block, dead: slots.count, length: slots.count * 2, to: &writer)
            for slot in slots { writer.append(slot) }
        } else {
            Self.head(.bitmap, block, dead: slots.count, length: bitmapSize, to: &writer)
            let bytes = writer.reserve(bitmapSize).bindMemory(to: UInt8.self, capacity: bitmapSize)
            bytes.initialize(repeating: 0, count: bitmapSize)
            for slot in slots { bytes[Int(slot >> 3)] |= 1 << UInt8(slot & 7) }
        }
    }

    /// Appends an entry of another payload unchanged; the caller counts it.
    package static func append(_ entry: DeathsPayload.Entry, to writer: inout ByteWriter) {
        head(entry.form, entry.block, dead: entry.deadCount, length: entry.data.count, to: &writer)
        writer.append(entry.data)
    }

    /// Completes the payload.
    package consuming func finish(_ writer: inout ByteWriter) {
        writer.store(count, at: start)
    }

    private static func head(
        _ form: DeathsForm, _ place: Place, dead: Int, length: Int, to writer: inout ByteWriter
    ) {
        writer.append(place)
        writer.append(form.rawValue)
        writer.append(UInt8(0))
        writer.append(UInt16(dead))
        writer.append(UInt16(length))
        writer.append(UInt16(0))
    }
}

/// A decoded deaths payload. It points into the bytes that it was decoded from.
package struct DeathsPayload {
    /// The dead rows of one block.
    package struct Entry {
        package let form: DeathsForm
        package let block: Place
        /// The number of dead rows.
        package let deadCount: Int
        let data: UnsafeRawBufferPointer

        /// Calls `body` with each dead slot in ascending order.
        ///
        /// - Parameter rows: the number of rows of the block.
        /// - Throws: `FormatError` if a slot is not in the block. (F-613)
        package func forEachSlot(rows: Int, _ body: (UInt16) -> Void) throws(FormatError) {
            switch form {
            case .all:
                guard deadCount == rows else { throw outside(rows, deadCount) }
                for slot in 0..<rows { body(UInt16(truncatingIfNeeded: slot)) }
            case .slots:
                let last = data.loadUnaligned(fromByteOffset: data.count - 2, as: UInt16.self)
                guard Int(UInt16(littleEndian: last)) < rows else { throw outside(rows, Int(last)) }
                for index in 0..<deadCount {
                    body(
                        UInt16(
                            littleEndian: data.loadUnaligned(
                                fromByteOffset: index * 2, as: UInt16.self)))
                }
            case .bitmap:
                guard data.count == (rows + 7) / 8,
                    data[data.count - 1] >> UInt8((rows - 1) & 7) <= 1
                else { throw outside(rows, data.count * 8) }
                for (index, byte) in data.enumerated() {
                    var rest = byte
                    while rest != 0 {
                        body(UInt16(truncatingIfNeeded: index * 8 + rest.trailingZeroBitCount))
                        rest &= rest &- 1
                    }
                }
            }
        }

        private func outside(_ rows: Int, _ found: Int) -> FormatError {
            FormatError(
                .malformed, "F-613", "a death lies outside its block", expected: UInt64(rows),
                found: UInt64(found))
        }
    }

    package let entries: [Entry]

    package init(decoding payload: UnsafeRawBufferPointer) throws(FormatError) {
        var reader = ByteReader(payload)
        let count = try reader.integer(UInt32.self)
        try reader.zeros(4)
        guard count > 0, UInt64(count) * UInt64(DeathsEncoder.entrySize) <= UInt64(reader.remaining)
        else {
            throw FormatError(
                .malformed, "F-611", "the number of entries is impossible", found: UInt64(count))
        }
        var entries: [Entry] = []
        entries.reserveCapacity(Int(count))
        for _ in 0..<count { entries.append(try reader.deathsEntry()) }
        try reader.end()
        self.entries = entries
    }
}

extension ByteReader {
    fileprivate mutating func deathsEntry() throws(FormatError) -> DeathsPayload.Entry {
        let start = offset
        let place = try place()
        let rawForm = try integer(UInt8.self)
        try zeros(1)
        let dead = Int(try integer(UInt16.self))
        let length = Int(try integer(UInt16.self))
        try zeros(2)
        let data = try take(length)
        guard let form = DeathsForm(rawValue: rawForm), place.segment != 0 else {
            throw FormatError(
                .malformed, "F-612", "an entry has an unknown form", at: start,
                found: UInt64(rawForm)
            )
        }
        let isRight =
            switch form {
            case .all: dead >= 1 && dead <= FormatLimits.maximumRows && length == 0
            case .slots: dead >= 1 && length == dead * 2 && data.slotsRise
            case .bitmap:
                dead >= 1 && length <= FormatLimits.maximumRows / 8
                    && data.reduce(0) { $0 + $1.nonzeroBitCount } == dead
            }
        guard isRight else {
            throw FormatError(
                .malformed, "F-612", "an entry contradicts itself", at: start, found: UInt64(dead))
        }
        return DeathsPayload.Entry(form: form, block: place, deadCount: dead, data: data)
    }
}

extension UnsafeRawBufferPointer {
    fileprivate var slotsRise: Bool {
        var previous = -1
        for offset in stride(from: 0, to: count, by: 2) {
            let slot = Int(
                UInt16(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
            if slot <= previous || slot >= FormatLimits.maximumRows { return false }
            previous = slot
        }
        return true
    }
}
