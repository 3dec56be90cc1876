// Arithmetic on whole columns: the results of `stock + 1` or `price * 1.1` for the rows of a block.
//
//   1. Sums, differences and products of integer or double attributes and of constants are parsed once.
//      Everything else is evaluated object by object.
//   2. Each part is calculated for all rows at once; a row in which a part is nil is nil.
//   3. If a result leaves 64 bits or the attribute's range, or is nil where it must not be, the kernel
//      returns no result: the evaluation object by object, which has the same rules, then finds out which row
//      it is.
//
// Threads: one owner.

import CairnFormat
import CairnModel
import CairnStore

/// A numeric expression that is evaluated one block at a time.
final class UpdateKernel {
    private enum Operation { case add, subtract, multiply }

    private indirect enum Node {
        case column(Int, isDouble: Bool)
        case integer(Int64)
        case double(Double)
        case combined(Operation, Node, Node)

        /// Whether its results are doubles.
        var isDouble: Bool {
            switch self {
            case .column(_, let isDouble): isDouble
            case .integer: false
            case .double: true
            case .combined(_, let left, let right): left.isDouble || right.isDouble
            }
        }

        /// The number of results that are held at a time.
        var depth: Int {
            guard case .combined(_, let left, let right) = self else { return 1 }
            return max(left.depth, right.depth + 1)
        }
    }

    private let root: Node
    /// The range of valid results; nil for 64 bits.
    private let limits: ClosedRange<Int64>?
    private let givesDoubles: Bool
    private let isOptional: Bool
    private let registers: UnsafeMutablePointer<UInt64>
    private let nils: UnsafeMutablePointer<UInt8>

    /// A kernel for a column of an entity; nil if the expression or the column is not supported.
    init?(_ expression: ExpressionNode, for column: SchemaColumn, of entity: SchemaEntity) {
        guard case .attribute(let type) = column.kind,
            let root = Self.node(expression, entity)
        else { return nil }
        switch type {
        case .integer16: limits = Int64(Int16.min)...Int64(Int16.max)
        case .integer32: limits = Int64(Int32.min)...Int64(Int32.max)
        case .integer64, .double: limits = nil
        default: return nil
        }
        givesDoubles = type == .double
        // A double may not be an integer, which is decided object by object.
        if !givesDoubles && root.isDouble { return nil }
        self.root = root
        isOptional = column.isOptional
        registers = .allocate(capacity: root.depth * FormatLimits.maximumRows)
        nils = .allocate(capacity: FormatLimits.maximumRows)
    }

    deinit {
        registers.deallocate()
        nils.deallocate()
    }

    private static func node(_ expression: ExpressionNode, _ entity: SchemaEntity) -> Node? {
        switch expression {
        case .constant(.integer(let value)): return .integer(value)
        case .constant(.double(let value)): return .double(value)
        case .keyPath(let path):
            guard let column = entity.columnIndex(named: path),
                case .attribute(let type) = entity.columns[column].kind
            else { return nil }
            switch type {
            case .integer16, .integer32, .integer64: return .column(column, isDouble: false)
            case .double: return .column(column, isDouble: true)
            default: return nil
            }
        case .function(let function, let arguments):
            guard arguments.count == 2, let left = node(arguments[0], entity),
                let right = node(arguments[1], entity)
            else { return nil }
            switch function {
            case .add: return .combined(.add, left, right)
            case .subtract: return .combined(.subtract, left, right)
            case .multiply: return .combined(.multiply, left, right)
            default: return nil
            }
        default: return nil
        }
    }

    // MARK: Calculating

    /// Sets the first cells of a column to the results for some slots of a block. Returns false if they must
    /// be evaluated object by object.
    func calculate(
        _ block: CachedBlock, _ stored: Catalog.StoredEntity,
        _ slots: UnsafeBufferPointer<UInt16>, into column: inout ColumnBuffer
    ) throws(StoreError) -> Bool {
        nils.update(repeating: 0, count: slots.count)
        guard try evaluate(root, 0, block, stored, slots) else { return false }
        if givesDoubles && !root.isDouble { widen(0, slots.count) }
        var isFull = true
        for row in 0..<slots.count { isFull = isFull && nils[row] == 0 }
        if !isFull && !isOptional { return false }
        if let limits {
            let results = registers
            var isInside = true
            for row in 0..<slots.count where nils[row] == 0 {
                isInside = isInside && limits.contains(Int64(bitPattern: results[row]))
            }
            if !isInside { return false }
        }
        column.values.copyMemory(from: registers, byteCount: slots.count * 8)
        let (set, null) = (ColumnBuffer.State.set, ColumnBuffer.State.null)
        column.states.update(repeating: set, count: slots.count)
        if !isFull {
            for row in 0..<slots.count where nils[row] != 0 { column.states[row] = null }
        }
        return true
    }

    private func register(_ index: Int) -> UnsafeMutablePointer<UInt64> {
        registers + index * FormatLimits.maximumRows
    }

    /// Converts integers to doubles.
    private func widen(_ index: Int, _ count: Int) {
        let words = register(index)
        for row in 0..<count { words[row] = Double(Int64(bitPattern: words[row])).bitPattern }
    }

    private func evaluate(
        _ node: Node, _ index: Int, _ block: CachedBlock, _ stored: Catalog.StoredEntity,
        _ slots: UnsafeBufferPointer<UInt16>
    ) throws(StoreError) -> Bool {
        let words = register(index)
        switch node {
        case .integer(let value):
            words.update(repeating: UInt64(bitPattern: value), count: slots.count)
        case .double(let value): words.update(repeating: value.bitPattern, count: slots.count)
        case .column(let column, let isDouble):
            let cells = try block.cells(stored.columns[column], at: column).pointee
            if isDouble, cells.nils == nil, slots.count == block.rows, let values = cells.values {
                // Slots ascend, so these are all there are.
                UnsafeMutableRawPointer(words).copyMemory(
                    from: values, byteCount: slots.count * 8)
                return true
            }
            for row in 0..<slots.count {
                let slot = Int(slots[row])
                if cells.isNil(slot) {
                    nils[row] = 1
                    words[row] = 0
                } else {
                    words[row] =
                        isDouble
                        ? cells.double(slot).bitPattern : UInt64(bitPattern: cells.integer(slot))
                }
            }
        case .combined(let operation, let left, let right):
            guard try evaluate(left, index, block, stored, slots),
                try evaluate(right, index + 1, block, stored, slots)
            else { return false }
            guard left.isDouble || right.isDouble else {
                return combine(operation, index, slots.count)
            }
            if !left.isDouble { widen(index, slots.count) }
            if !right.isDouble { widen(index + 1, slots.count) }
            combineDoubles(operation, index, slots.count)
        }
        return true
    }

    /// Combines integers; returns false if one overflows.
    private func combine(_ operation: Operation, _ index: Int, _ count: Int) -> Bool {
        let (left, right) = (register(index), register(index + 1))
        var overflows = false
        @inline(__always)
        func each(_ body: (Int64, Int64) -> (partialValue: Int64, overflow: Bool)) {
            for row in 0..<count {
                let result = body(Int64(bitPattern: left[row]), Int64(bitPattern: right[row]))
                overflows = overflows || result.overflow && nils[row] == 0
                left[row] = UInt64(bitPattern: result.partialValue)
            }
        }
        switch operation {
        case .add: each { $0.addingReportingOverflow($1) }
        case .subtract: each { $0.subtractingReportingOverflow($1) }
        case .multiply: each { $0.multipliedReportingOverflow(by: $1) }
        }
        return !overflows
    }

    private func combineDoubles(_ operation: Operation, _ index: Int, _ count: Int) {
        let (left, right) = (register(index), register(index + 1))
        @inline(__always)
        func each(_ body: (Double, Double) -> Double) {
            for row in 0..<count {
                left[row] =
                    body(Double(bitPattern: left[row]), Double(bitPattern: right[row])).bitPattern
            }
        }
        switch operation {
        case .add: each { $0 + $1 }
        case .subtract: each { $0 - $1 }
        case .multiply: each { $0 * $1 }
        }
    }
}
