// One of the keys that objects are grouped by: numbers its values, block by block.
//
//   - Cells with a dictionary: each entry of a block is numbered when it is first met, and a row takes the number of its code.
//   - Other cells: as words or as runs of bytes. Decimals and expressions are values.
//
// Nil is 0. Both zeros are one value, and all that is no number is one.
//
// Threads: one reading.

import CairnFormat
import CairnModel
import CairnStore
import FoundationEssentials

final class GroupColumn {
    private enum Source {
        case words(Int)
        case bytes(Int)
        case values(Int)
        case expression(ExpressionEvaluator)
    }

    private let source: Source
    private let kind: SchemaColumn.Kind?
    private let identity: StoreIdentity
    private lazy var words = WordNumbers()
    private lazy var runs = ByteNumbers()
    private var values: [Value] = []
    private var numbers: [Value: UInt32] = [:]
    /// Of the dictionary of the block at hand.
    private var codes: [UInt32] = []

    init(_ key: ExpressionNode, _ plan: TablePlan, _ objects: StoredObjects)
        throws(PredicateFormatError)
    {
        identity = objects.identity
        if case .keyPath(let path) = key, let column = plan.entity.columnIndex(named: path) {
            kind = plan.entity.columns[column].kind
            switch objects.catalog.entities[plan.entity.index].columns[column].kind {
            case .integer, .double, .float: source = .words(column)
            case .fixed16: source = .bytes(column)
            case .bytes: source = kind == .attribute(.decimal) ? .values(column) : .bytes(column)
            }
        } else {
            kind = nil
            source = .expression(try ExpressionEvaluator(key))
        }
    }

    /// The most that a number can be by now.
    var most: Int {
        switch source {
        case .words: words.words.count
        case .bytes: runs.count
        case .values, .expression: values.count
        }
    }

    // MARK: Numbering

    /// Numbers the values of the rows in some slots of a block.
    func number(
        _ block: CachedBlock, of entity: Int, _ slots: UnsafeBufferPointer<UInt16>,
        into out: UnsafeMutablePointer<UInt32>, _ objects: StoredObjects
    ) throws(StoreError) {
        let stored = objects.catalog.entities[entity]
        switch source {
        case .words(let column):
            numberWords(
                try block.cells(stored.columns[column], at: column).pointee, slots, out)
        case .bytes(let column):
            try numberBytes(block, stored.columns[column], column, slots, out)
        case .values(let column):
            let description = objects.catalog.description(of: entity)
            for index in slots.indices {
                out[index] = number(
                    of: try objects.value(column, of: description, block, Int(slots[index])))
            }
        case .expression(let evaluator):
            let numbers = try block.numbers()
            let handles = objects.state.directories[stored.tree]
            for index in slots.indices {
                let number = numbers.number(Int(slots[index]))
                let object = objects.object(number, handles[number], of: entity, in: block)
                out[index] = self.number(of: evaluator.value(for: object).plain)
            }
            try objects.rethrow()
        }
    }

    private func number(of value: Value) -> UInt32 {
        if value.isNull { return 0 }
        let value = value.asGroupKey
        if let known = numbers[value] { return known }
        values.append(value)
        let number = UInt32(values.count)
        numbers[value] = number
        return number
    }

    private func numberWords(
        _ cells: CellColumn, _ slots: UnsafeBufferPointer<UInt16>,
        _ out: UnsafeMutablePointer<UInt32>
    ) {
        let words = self.words
        switch cells.kind {
        case .double:
            for index in slots.indices {
                let slot = Int(slots[index])
                out[index] =
                    cells.isNil(slot) ? 0 : words.number(of: Self.word(cells.double(slot)))
            }
        case .float:
            for index in slots.indices {
                let slot = Int(slots[index])
                out[index] =
                    cells.isNil(slot) ? 0 : words.number(of: Self.word(cells.float(slot)))
            }
        default:
            for index in slots.indices {
                let slot = Int(slots[index])
                out[index] =
                    cells.isNil(slot)
                    ? 0 : words.number(of: UInt64(bitPattern: cells.integer(slot)))
            }
        }
    }

    private static func word(_ value: Double) -> UInt64 {
        value.isNaN ? Double.nan.bitPattern : value == 0 ? 0 : value.bitPattern
    }

    private static func word(_ value: Float) -> UInt64 {
        UInt64(value.isNaN ? Float.nan.bitPattern : value == 0 ? 0 : value.bitPattern)
    }

    private func numberBytes(
        _ block: CachedBlock, _ stored: Catalog.StoredColumn, _ column: Int,
        _ slots: UnsafeBufferPointer<UInt16>, _ out: UnsafeMutablePointer<UInt32>
    ) throws(StoreError) {
        guard let decoded = try block.column(stored) else {
            out.update(repeating: 0, count: slots.count)
            return
        }
        let cells = try block.cells(stored, at: column).pointee
        let runs = self.runs
        if decoded.dictionaryCount > 0 {
            numberCodes(decoded, slots, out)
        } else if cells.externals != nil {
            for index in slots.indices {
                let slot = Int(slots[index])
                out[index] =
                    cells.isNil(slot)
                    ? 0 : try block.withBytes(decoded, slot) { runs.number(of: $0) }
            }
        } else if cells.kind == .fixed16 {
            for index in slots.indices {
                let slot = Int(slots[index])
                out[index] = cells.isNil(slot) ? 0 : runs.number(of: cells.fixed16(slot))
            }
        } else {
            for index in slots.indices {
                let slot = Int(slots[index])
                out[index] = cells.isNil(slot) ? 0 : runs.number(of: cells.bytes(slot))
            }
        }
    }

    private func numberCodes(
        _ cells: DecodedColumn, _ slots: UnsafeBufferPointer<UInt16>,
        _ out: UnsafeMutablePointer<UInt32>
    ) {
        let runs = self.runs
        let unknown = UInt32.max
        codes.removeAll(keepingCapacity: true)
        codes.append(contentsOf: repeatElement(unknown, count: cells.dictionaryCount))
        codes.withUnsafeMutableBufferPointer { codes in
            for index in slots.indices {
                let slot = Int(slots[index])
                if cells.isNil(at: slot) {
                    out[index] = 0
                    continue
                }
                let code = cells.code(at: slot)
                if codes[code] == unknown {
                    codes[code] = runs.number(of: cells.dictionaryEntry(code))
                }
                out[index] = codes[code]
            }
        }
    }

    // MARK: Values

    /// The value of a number.
    func value(_ number: UInt32) -> Value {
        if number == 0 { return .null }
        switch source {
        case .values, .expression: return values[Int(number) - 1]
        case .words:
            let word = words.words[Int(number) - 1]
            switch kind {
            case .reference(let root): return .objectID(identity.id(word, entity: root))
            case .attribute(.boolean): return .boolean(word != 0)
            case .attribute(.double): return .double(Double(bitPattern: word))
            case .attribute(.date):
                return .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: word)))
            case .attribute(.float):
                return .float(Float(bitPattern: UInt32(truncatingIfNeeded: word)))
            default: return .integer(Int64(bitPattern: word))
            }
        case .bytes:
            guard case .attribute(let type) = kind else { return .null }
            return StoredObjects.value(runs.run(number), type)
        }
    }
}
