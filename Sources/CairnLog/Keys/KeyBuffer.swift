// The canonical bytes of a uniqueness key, and their hash.
//
// Single keys: the value's own bytes. Compound keys: for each part its length as 4 bytes, then its bytes.
// Integers, booleans and references are 8 bytes, little-endian; doubles and floats their bits with −0 as 0;
// strings are UTF-8, never Swift's canonical equivalence. With a nil or NaN part, there is no key. For keys
// of constraints with options, see `KeyForm`.
//
// Invariant: two rows have equal key bytes for a constraint exactly if the constraint treats them as equal.
// Threads: owned by one commit or one fetch.

import CairnFormat
import CairnModel
import CairnStore
import FoundationEssentials

/// A reusable buffer for the bytes of one key.
package struct KeyBuffer: ~Copyable {
    private(set) var base: UnsafeMutableRawPointer
    private(set) var count = 0
    private var capacity = 256

    package init() {
        base = .allocate(byteCount: 256, alignment: 8)
    }

    deinit { base.deallocate() }

    /// The key's bytes; valid until the buffer is used again.
    package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

    /// The key's hash under the seed of the process.
    @inline(__always) package func hash(seed: UInt64) -> UInt64 { StoredHash.of(bytes, seed: seed) }

    @inline(__always) mutating func clear() { count = 0 }

    @inline(__always) mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if capacity &- count < bytes.count { grow(bytes.count) }
        if let source = bytes.baseAddress {
            (base + count).copyMemory(from: source, byteCount: bytes.count)
        }
        count &+= bytes.count
    }

    @inline(__always) mutating func append(word: UInt64) {
        if capacity &- count < 8 { grow(8) }
        (base + count).storeBytes(of: word.littleEndian, as: UInt64.self)
        count &+= 8
    }

    @inline(__always) mutating func append(length: Int) {
        if capacity &- count < 4 { grow(4) }
        (base + count).storeBytes(
            of: UInt32(truncatingIfNeeded: length).littleEndian, as: UInt32.self)
        count &+= 4
    }

    /// Appends a part of 8 bytes; returns false for nil, which no key contains.
    @inline(__always) private mutating func part(_ word: UInt64?, _ compound: Bool) -> Bool {
        guard let word else { return false }
        if compound { append(length: 8) }
        append(word: word)
        return true
    }

    /// Appends a part of any length.
    private mutating func part(_ bytes: UnsafeRawBufferPointer, _ compound: Bool) -> Bool {
        if compound { append(length: bytes.count) }
        append(bytes)
        return true
    }

    private mutating func grow(_ more: Int) {
        let size = max(capacity * 2, count + more)
        let bigger = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 8)
        bigger.copyMemory(from: base, byteCount: count)
        base.deallocate()
        base = bigger
        capacity = size
    }

    /// Whether the key equals other bytes.
    @inline(__always) func equals(_ other: borrowing KeyBuffer) -> Bool {
        equals(other.bytes)
    }

    @inline(__always) func equals(_ other: UnsafeRawBufferPointer) -> Bool {
        count == other.count && compareCells(bytes, other) == 0
    }
}

/// Returns the bits of a double or float in a key; nil for NaN.
@inline(__always) func keyBits(_ value: Double) -> UInt64? {
    value.isNaN ? nil : value == 0 ? 0 : value.bitPattern
}

@inline(__always) func keyBits(_ value: Float) -> UInt64? {
    value.isNaN ? nil : value == 0 ? 0 : UInt64(value.bitPattern)
}

extension KeyBuffer {
    /// Loads the key of a row of a batch; returns false if a part is nil.
    mutating func load(_ batch: ColumnBatch, row: Int, columns: [Int]) -> Bool {
        clear()
        let compound = columns.count > 1
        for column in columns {
            guard append(batch.columns[column], row: row, compound: compound) else { return false }
        }
        return true
    }

    mutating func append(_ column: ColumnBuffer, row: Int, compound: Bool) -> Bool {
        guard column.hasValue(row) else { return false }
        let word: UInt64?
        switch column.kind {
        case .integer: word = column.values.load(fromByteOffset: row &* 8, as: UInt64.self)
        case .double:
            word = keyBits(column.values.load(fromByteOffset: row &* 8, as: Double.self))
        case .float: word = keyBits(column.values.load(fromByteOffset: row &* 4, as: Float.self))
        case .bytes, .fixed16: return part(column.cell(row), compound)
        }
        return part(word, compound)
    }

    /// Loads the key of a row given as values; returns false if a part is nil.
    mutating func load(_ values: [Value], columns: [Int], number: (ObjectID) -> UInt32?) -> Bool {
        clear()
        let compound = columns.count > 1
        for column in columns {
            guard append(values[column], compound: compound, number: number) else { return false }
        }
        return true
    }

    /// Loads the key of one value; returns false if it is nil.
    mutating func load(_ value: Value) -> Bool {
        clear()
        return append(value, compound: false, number: { $0.number })
    }

    mutating func append(_ value: Value, compound: Bool, number: (ObjectID) -> UInt32?)
        -> Bool
    {
        let word: UInt64?
        switch value {
        case .null: return false
        case .integer(let value): word = UInt64(bitPattern: value)
        case .boolean(let value): word = value ? 1 : 0
        case .objectID(let id): word = number(id).map { UInt64($0) }
        case .double(let value): word = keyBits(value)
        case .date(let value): word = keyBits(value.timeIntervalSinceReferenceDate)
        case .float(let value): word = keyBits(value)
        case .string(let text):
            // Without a mutable copy. Native strings are contiguous.
            return text.utf8.withContiguousStorageIfAvailable {
                part(UnsafeRawBufferPointer($0), compound)
            } ?? Array(text.utf8).withUnsafeBytes { part($0, compound) }
        case .uri(let value):
            var text = value.absoluteString
            return text.withUTF8 { part(UnsafeRawBufferPointer($0), compound) }
        case .binary(let value): return value.withUnsafeBytes { part($0, compound) }
        case .decimal(let value):
            // Its bytes would equal those of zero.
            if value.isNaN { return false }
            return DecimalCoding.encode(value).withUnsafeBytes { part($0, compound) }
        case .uuid(let value): return withUnsafeBytes(of: value.uuid) { part($0, compound) }
        }
        return part(word, compound)
    }
}

extension KeyBuffer {
    /// Loads the key of a stored row; returns false if a part is nil.
    mutating func load(
        _ block: CachedBlock, row: Int, entity: Catalog.StoredEntity, columns: [Int]
    ) throws(StoreError) -> Bool {
        clear()
        let compound = columns.count > 1
        for column in columns {
            let cells = try block.reader(entity.columns[column], at: column)
            if cells.isNil(row) { return false }
            guard try append(cells, row: row, block, compound: compound) else { return false }
        }
        return true
    }

    /// Appends a stored cell that is not nil; returns false for NaN, which no key contains.
    @inline(__always)
    mutating func append(
        _ cells: CellReader, row: Int, _ block: CachedBlock, compound: Bool
    ) throws(StoreError) -> Bool {
        let word: UInt64?
        switch cells.kind {
        case .integer: word = UInt64(bitPattern: cells.integer(row))
        case .double: word = keyBits(cells.double(row))
        case .float: word = keyBits(cells.float(row))
        case .fixed16: return part(cells.fixed16(row), compound)
        case .bytes:
            if cells.isExternal(row) {
                let value = try block.largeBytes(cells, row)
                return value.withUnsafeBytes { part($0, compound) }
            }
            guard let stored = cells.bytes(row) else { throw block.badCell(cells, row) }
            guard case .symbols = cells.form else { return part(stored, compound) }
            guard append(expanding: stored, by: cells, compound) else {
                throw block.badCell(cells, row)
            }
            return true
        }
        return part(word, compound)
    }

    private mutating func append(
        expanding codes: UnsafeRawBufferPointer, by cells: CellReader, _ compound: Bool
    ) -> Bool {
        // The length is known after the bytes.
        let start = count
        if compound { append(length: 0) }
        let most = CellReader.mostBytes(codes) + 8
        if capacity &- count < most { grow(most) }
        guard let length = cells.expand(codes, into: base + count) else { return false }
        count &+= length
        if compound {
            (base + start).storeBytes(
                of: UInt32(truncatingIfNeeded: length).littleEndian, as: UInt32.self)
        }
        return true
    }
}
