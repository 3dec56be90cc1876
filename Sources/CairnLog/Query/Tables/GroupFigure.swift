// One aggregate of all groups: processes the rows of a block with the group numbers of the rows.
//
//   count        of all rows, or of those in which a column is not nil
//   sum, average integers in 128 bits, which no store can fill; doubles and floats as doubles
//   min, max     numbers, dates and Booleans as words; strings and bytes as bytes
//   all else     the values are collected, and aggregated at the end like objects in memory
//
// Threads: one reading.

import CairnFormat
import CairnModel
import CairnStore
import FoundationEssentials

final class GroupFigure {
    private enum Work {
        case rows
        case present(Int)
        case integers(Int)
        case doubles(Int)
        case extremeInteger(Int, isLeast: Bool)
        case extremeDouble(Int, isLeast: Bool)
        case extremeBytes(Int, isLeast: Bool)
        case collected(ExpressionEvaluator)
    }

    private let aggregate: TableAggregate
    private let work: Work
    private let type: AttributeType?
    /// The number of values that are not nil; for aggregates of doubles, also not NaN.
    private var counts = GroupBuffer(0)
    private var integers = GroupBuffer<Int128>(0)
    private var doubles = GroupBuffer(0.0)
    private var bytes: [[UInt8]] = []
    private var values: [[EvaluatedValue]] = []

    init(_ aggregate: TableAggregate, _ plan: TablePlan, _ catalog: Catalog)
        throws(PredicateFormatError)
    {
        self.aggregate = aggregate
        guard let argument = aggregate.argument else {
            work = .rows
            type = nil
            return
        }
        var type: AttributeType?
        var work: Work?
        if case .keyPath(let path) = argument, let column = plan.entity.columnIndex(named: path) {
            if case .attribute(let known) = plan.entity.columns[column].kind { type = known }
            work = Self.work(
                aggregate.function, column, type,
                catalog.entities[plan.entity.index].columns[column].kind)
        }
        self.type = type
        if let work {
            self.work = work
        } else {
            self.work = .collected(try ExpressionEvaluator(argument))
        }
    }

    private static func work(
        _ function: ExpressionNode.Function, _ column: Int, _ type: AttributeType?,
        _ kind: ColumnBuffer.Kind
    ) -> Work? {
        switch (function, kind) {
        case (.count, _): return .present(column)
        case (.sum, .integer), (.average, .integer): return type == nil ? nil : .integers(column)
        case (.sum, .double), (.average, .double):
            return type == .double ? .doubles(column) : nil
        case (.sum, .float), (.average, .float): return .doubles(column)
        case (.minimum, .integer), (.maximum, .integer):
            return type == nil ? nil : .extremeInteger(column, isLeast: function == .minimum)
        case (.minimum, .double), (.maximum, .double), (.minimum, .float), (.maximum, .float):
            return .extremeDouble(column, isLeast: function == .minimum)
        case (.minimum, .bytes), (.maximum, .bytes), (.minimum, .fixed16), (.maximum, .fixed16):
            // Decimals do not sort by their bytes.
            return type == .decimal
                ? nil : .extremeBytes(column, isLeast: function == .minimum)
        default: return nil
        }
    }

    // MARK: Taking

    /// Processes the rows in some slots of a block; `groups` contains the group number of each row, all below
    /// `count`.
    func take(
        _ block: CachedBlock, of entity: Int, _ slots: UnsafeBufferPointer<UInt16>,
        _ groups: UnsafePointer<UInt32>, below count: Int, _ objects: StoredObjects
    ) throws(StoreError) {
        let stored = objects.catalog.entities[entity]
        reserve(count)
        switch work {
        case .rows: break
        case .present(let column):
            countPresent(
                try block.cells(stored.columns[column], at: column).pointee, slots, groups)
        case .integers(let column):
            addIntegers(
                try block.cells(stored.columns[column], at: column).pointee, slots, groups)
        case .doubles(let column):
            addDoubles(try block.cells(stored.columns[column], at: column).pointee, slots, groups)
        case .extremeInteger(let column, let isLeast):
            compareIntegers(
                try block.cells(stored.columns[column], at: column).pointee, slots, groups, isLeast)
        case .extremeDouble(let column, let isLeast):
            compareDoubles(
                try block.cells(stored.columns[column], at: column).pointee, slots, groups, isLeast)
        case .extremeBytes(let column, let isLeast):
            guard let cells = try block.column(stored.columns[column]) else { return }
            try compareBytes(block, cells, slots, groups, isLeast)
        case .collected(let evaluator):
            let numbers = try block.numbers()
            let directory = objects.state.directories[stored.tree]
            for index in slots.indices {
                let number = numbers.number(Int(slots[index]))
                let object = objects.object(number, directory[number], of: entity, in: block)
                let value = evaluator.value(for: object)
                if !value.isNull { values[Int(groups[index])].append(value) }
            }
            try objects.rethrow()
        }
    }

    private func countPresent(
        _ cells: CellColumn, _ slots: UnsafeBufferPointer<UInt16>, _ groups: UnsafePointer<UInt32>
    ) {
        let counts = self.counts.values
        for index in slots.indices where !cells.isNil(Int(slots[index])) {
            counts[Int(groups[index])] &+= 1
        }
    }

    private func addIntegers(
        _ cells: CellColumn, _ slots: UnsafeBufferPointer<UInt16>, _ groups: UnsafePointer<UInt32>
    ) {
        let counts = self.counts.values
        let sums = integers.values
        for index in slots.indices {
            let slot = Int(slots[index])
            if cells.isNil(slot) { continue }
            let group = Int(groups[index])
            sums[group] &+= Int128(cells.integer(slot))
            counts[group] &+= 1
        }
    }

    private func addDoubles(
        _ cells: CellColumn, _ slots: UnsafeBufferPointer<UInt16>, _ groups: UnsafePointer<UInt32>
    ) {
        let counts = self.counts.values
        let sums = doubles.values
        let isFloat = cells.kind == .float
        for index in slots.indices {
            let slot = Int(slots[index])
            if cells.isNil(slot) { continue }
            let group = Int(groups[index])
            sums[group] += isFloat ? Double(cells.float(slot)) : cells.double(slot)
            counts[group] &+= 1
        }
    }

    private func compareIntegers(
        _ cells: CellColumn, _ slots: UnsafeBufferPointer<UInt16>, _ groups: UnsafePointer<UInt32>,
        _ isLeast: Bool
    ) {
        let counts = self.counts.values
        let best = integers.values
        for index in slots.indices {
            let slot = Int(slots[index])
            if cells.isNil(slot) { continue }
            let group = Int(groups[index])
            let value = Int128(cells.integer(slot))
            if counts[group] == 0 || (isLeast ? value < best[group] : value > best[group]) {
                best[group] = value
            }
            counts[group] &+= 1
        }
    }

    private func compareDoubles(
        _ cells: CellColumn, _ slots: UnsafeBufferPointer<UInt16>, _ groups: UnsafePointer<UInt32>,
        _ isLeast: Bool
    ) {
        let counts = self.counts.values
        let best = doubles.values
        let isFloat = cells.kind == .float
        for index in slots.indices {
            let slot = Int(slots[index])
            if cells.isNil(slot) { continue }
            let value = isFloat ? Double(cells.float(slot)) : cells.double(slot)
            if value.isNaN { continue }
            let group = Int(groups[index])
            if counts[group] == 0 || (isLeast ? value < best[group] : value > best[group]) {
                best[group] = value
            }
            counts[group] &+= 1
        }
    }

    private func compareBytes(
        _ block: CachedBlock, _ cells: DecodedColumn, _ slots: UnsafeBufferPointer<UInt16>,
        _ groups: UnsafePointer<UInt32>, _ isLeast: Bool
    ) throws(StoreError) {
        for index in slots.indices {
            let slot = Int(slots[index])
            if cells.isNil(at: slot) { continue }
            let group = Int(groups[index])
            let isFirst = counts.values[group] == 0
            counts.values[group] &+= 1
            try block.withBytes(cells, slot) { cell in
                let order = isFirst ? -1 : bytes[group].withUnsafeBytes { compareCells(cell, $0) }
                if isFirst || (isLeast ? order < 0 : order > 0) { bytes[group] = Array(cell) }
            }
        }
    }

    /// Whether expressions are evaluated on objects.
    var asksObjects: Bool {
        if case .collected = work { true } else { false }
    }

    /// Copies the figure of a group of another instance; both have capacity for it.
    func take(_ group: Int, from other: GroupFigure, _ its: Int) {
        switch work {
        case .rows: return
        case .present: break
        case .integers, .extremeInteger: integers.values[group] = other.integers.values[its]
        case .doubles, .extremeDouble: doubles.values[group] = other.doubles.values[its]
        case .extremeBytes: bytes[group] = other.bytes[its]
        case .collected: values[group] = other.values[its]
        }
        counts.values[group] = other.counts.values[its]
    }

    // MARK: Answering

    /// Returns the figure of a group, given its number of rows.
    func value(of group: Int, rows: Int) -> EvaluatedValue {
        switch work {
        case .rows: return .value(.integer(Int64(rows)))
        case .present: return .value(.integer(Int64(counts.values[group])))
        case .collected:
            return TableAggregate.value(of: aggregate.function, values[group])
        default: break
        }
        let count = counts.values[group]
        if count == 0 {
            return .value(aggregate.function == .sum ? .integer(0) : .null)
        }
        switch work {
        case .integers:
            let sum = integers.values[group]
            return .value(
                aggregate.function == .average
                    ? TableAggregate.average(sum, of: count) : TableAggregate.sum(sum))
        case .doubles:
            let sum = doubles.values[group]
            return .value(
                .double(aggregate.function == .average ? sum / Double(count) : sum))
        case .extremeInteger:
            let value = Int64(truncatingIfNeeded: integers.values[group])
            return .value(type == .boolean ? .boolean(value != 0) : .integer(value))
        case .extremeDouble:
            let value = doubles.values[group]
            return .value(
                type == .date
                    ? .date(Date(timeIntervalSinceReferenceDate: value))
                    : type == .float ? .float(Float(value)) : .double(value))
        default:
            return .value(
                bytes[group].withUnsafeBytes { bytes in
                    type.map { Value.stored(bytes, $0) } ?? .null
                })
        }
    }

    /// Makes sure that a group without rows has a figure.
    func reserve(_ groups: Int) {
        switch work {
        case .rows: return
        case .present: break
        case .integers, .extremeInteger: integers.reserve(groups)
        case .doubles, .extremeDouble: doubles.reserve(groups)
        case .extremeBytes: while bytes.count < groups { bytes.append([]) }
        case .collected: while values.count < groups { values.append([]) }
        }
        counts.reserve(groups)
    }
}
