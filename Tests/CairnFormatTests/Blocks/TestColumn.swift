// Columns as arrays of cells, and the memory that the encoder borrows from.

import CairnFormat

/// One value, compared by its bits.
enum TestCell: Equatable {
    case integer(Int64)
    case double(UInt64)
    case float(UInt32)
    case bytes([UInt8])
    case reference([UInt8])
    case fixed16([UInt8])
}

/// A column of a test; a row without a cell is nil.
struct TestColumn: Equatable {
    var kind: ColumnKind
    var propertyID: UInt32
    var cells: [TestCell?]

    static func integers(_ propertyID: UInt32, _ values: [Int64?]) -> TestColumn {
        TestColumn(
            kind: .integer, propertyID: propertyID, cells: values.map { $0.map(TestCell.integer) })
    }

    static func doubles(_ propertyID: UInt32, _ values: [Double?]) -> TestColumn {
        TestColumn(
            kind: .double, propertyID: propertyID,
            cells: values.map { $0.map { .double($0.bitPattern) } })
    }

    static func strings(_ propertyID: UInt32, _ values: [String?]) -> TestColumn {
        TestColumn(
            kind: .bytes, propertyID: propertyID,
            cells: values.map { $0.map { .bytes(Array($0.utf8)) } })
    }
}

/// Memory for plain columns, laid out as their owners lay it out.
final class PlainMemory {
    private var allocations: [UnsafeMutableRawPointer] = []

    deinit {
        for allocation in allocations { allocation.deallocate() }
    }

    func copy<T>(_ values: [T]) -> UnsafePointer<T> {
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: max(values.count * MemoryLayout<T>.stride, 16), alignment: 16)
        allocations.append(memory)
        let target = memory.bindMemory(to: T.self, capacity: values.count)
        for (index, value) in values.enumerated() { target[index] = value }
        return UnsafePointer(target)
    }

    func plain(_ column: TestColumn) -> PlainColumn {
        let flags = column.cells.map { $0 == nil ? UInt8(1) : 0 }
        let nils = flags.contains(1) ? copy(flags) : nil
        switch column.kind {
        case .integer:
            let values = column.cells.map { cell -> Int64 in
                if case .integer(let value)? = cell { value } else { -999_999_999_999 }
            }
            return .integers(column.propertyID, copy(values), nils: nils)
        case .double:
            let values = column.cells.map { cell -> Double in
                if case .double(let bits)? = cell { Double(bitPattern: bits) } else { 1.0 / 3 }
            }
            return .doubles(column.propertyID, copy(values), nils: nils)
        case .float:
            let values = column.cells.map { cell -> Float in
                if case .float(let bits)? = cell { Float(bitPattern: bits) } else { 0.1 }
            }
            return .floats(column.propertyID, copy(values), nils: nils)
        case .fixed16:
            let bytes = column.cells.flatMap { cell -> [UInt8] in
                if case .fixed16(let bytes)? = cell {
                    bytes
                } else {
                    Array(repeating: 7, count: 16)
                }
            }
            return .fixed16(column.propertyID, UnsafeRawPointer(copy(bytes)), nils: nils)
        case .bytes:
            return bytes(column, nils)
        }
    }

    private func bytes(_ column: TestColumn, _ nils: UnsafePointer<UInt8>?) -> PlainColumn {
        var data: [UInt8] = [1, 2, 3]
        var starts: [UInt32] = []
        var lengths: [UInt32] = []
        var externals: [UInt8] = []
        for (row, cell) in column.cells.enumerated() {
            // A gap now and then, as after setting a cell twice.
            if row % 5 == 4 { data += [9, 9] }
            starts.append(cell == nil ? 0xffff_ffff : UInt32(data.count))
            switch cell {
            case .bytes(let bytes)?, .reference(let bytes)?:
                data += bytes
                lengths.append(UInt32(bytes.count))
            default: lengths.append(0xffff_ffff)
            }
            if case .reference? = cell { externals.append(1) } else { externals.append(0) }
        }
        return .bytes(
            column.propertyID, starts: copy(starts), lengths: copy(lengths), data: copy(data),
            nils: nils, externals: externals.contains(1) ? copy(externals) : nil)
    }
}

extension DecodedColumn {
    /// All cells.
    var cells: [TestCell?] {
        (0..<count).map { row in
            if isNil(at: row) { return nil }
            switch kind {
            case .integer: return .integer(integer(at: row))
            case .double: return .double(double(at: row).bitPattern)
            case .float: return .float(float(at: row).bitPattern)
            case .fixed16: return .fixed16(Array(fixed16(at: row)))
            case .bytes:
                let bytes = Array(bytes(at: row))
                return isExternal(at: row) ? .reference(bytes) : .bytes(bytes)
            }
        }
    }
}
