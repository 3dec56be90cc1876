// One of the group keys: assigns numbers to its values, block by block.
//
//   - Cells with a dictionary: each entry of a block is numbered on first use, and a row gets the number of
//     its code.
//   - Other cells: as words or as runs of bytes. Decimals and results of expressions are kept as values.
//
// If a sieve requires it, values are hashed first.
//
// Nil is 0. Both zeros are one value, and so are all NaNs, and equal numbers of different types.
//
// Threads: one reading.

import CCairn
import CairnFormat
import CairnModel
import CairnStore

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
    private let words = WordNumbers()
    private let runs: ByteNumbers
    private var values: [Value] = []
    private var numbers: [Value: UInt32] = [:]
    /// Codes of the current block's dictionary.
    private var codes: [UInt32] = []

    init(_ key: ExpressionNode, _ plan: TablePlan, _ objects: StoredObjects)
        throws(PredicateFormatError)
    {
        identity = objects.identity
        runs = ByteNumbers(seed: objects.state.hashSeed)
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

    /// The largest number assigned so far.
    var most: Int {
        switch source {
        case .words: words.words.count
        case .bytes: runs.count
        case .values, .expression: values.count
        }
    }

    // MARK: Hashing

    /// Whether the stored form of the values in blocks can be hashed.
    var hasHashes: Bool {
        switch source {
        case .words, .bytes: true
        case .values, .expression: false
        }
    }

    /// Mixes the hashes of the values of the rows in some slots of a block into `hashes`: equal hashes for
    /// equal values. Returns whether that was possible; it is not if values have frames of their own.
    func hash(
        _ block: CachedBlock, of entity: Int, _ slots: UnsafeBufferPointer<UInt16>,
        into hashes: UnsafeMutablePointer<UInt64>, _ objects: StoredObjects
    ) throws(StoreError) -> Bool {
        switch source {
        case .values, .expression: return false
        case .words(let column):
            let stored = objects.catalog.entities[entity].columns[column]
            let cells = try block.cells(stored, at: column).pointee
            for index in slots.indices {
                let slot = Int(slots[index])
                let word = cells.isNil(slot) ? 0 : Self.word(cells, slot)
                hashes[index] = cairn_hash64_pair(hashes[index], word, 0)
            }
        case .bytes(let column):
            let stored = objects.catalog.entities[entity].columns[column]
            let cells = try block.cells(stored, at: column).pointee
            if cells.externals != nil { return false }
            let isFixed = cells.kind == .fixed16
            let runs = self.runs
            for index in slots.indices {
                let slot = Int(slots[index])
                if cells.isNil(slot) { continue }
                let run = isFixed ? cells.fixed16(slot) : cells.bytes(slot)
                hashes[index] = runs.hash(run) ^ hashes[index] &* 0x9E37_79B9_7F4A_7C15
            }
        }
        return true
    }

    // MARK: Parts

    /// Reserves capacity for `count` values.
    func reserve(_ count: Int) {
        switch source {
        case .words: words.reserve(count)
        case .bytes: runs.reserve(count)
        case .values, .expression: values.reserveCapacity(count)
        }
    }

    /// Assigns the next number to a value of another column, given by its number there. This column must not
    /// have the value yet, and no value may be looked up after that.
    func append(_ number: UInt32, of other: GroupColumn) -> UInt32 {
        if number == 0 { return 0 }
        switch source {
        case .words: words.append(other.words.words[Int(number) - 1])
        case .bytes: runs.append(other.runs.run(number))
        case .values, .expression: values.append(other.values[Int(number) - 1])
        }
        return UInt32(most)
    }

    // MARK: Numbering

    /// Numbers the values of the rows in some slots of a block.
    ///
    /// - Parameter hashes: the hashes of this column alone, if they are known.
    func number(
        _ block: CachedBlock, of entity: Int, _ slots: UnsafeBufferPointer<UInt16>,
        into out: UnsafeMutablePointer<UInt32>, _ objects: StoredObjects,
        hashes: UnsafePointer<UInt64>? = nil
    ) throws(StoreError) {
        let stored = objects.catalog.entities[entity]
        switch source {
        case .words(let column):
            numberWords(
                try block.cells(stored.columns[column], at: column).pointee, slots, out)
        case .bytes(let column):
            try numberBytes(block, stored.columns[column], column, slots, out, hashes)
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
        if let known = numbers[value] { return known }
        // A column has values of one type; an expression may return a number of another type in each row.
        let identity = kind == nil ? value.groupIdentity : value.asGroupKey
        let number = numbers[identity] ?? UInt32(values.count + 1)
        if number > values.count {
            values.append(value.asGroupKey)
            numbers[identity] = number
        }
        if identity != value { numbers[value] = number }
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

    /// Returns the word of a cell that is not nil.
    @inline(__always)
    private static func word(_ cells: CellColumn, _ slot: Int) -> UInt64 {
        switch cells.kind {
        case .double: word(cells.double(slot))
        case .float: word(cells.float(slot))
        default: UInt64(bitPattern: cells.integer(slot))
        }
    }

    private static func word(_ value: Double) -> UInt64 {
        keyBits(value) ?? Double.nan.bitPattern
    }

    private static func word(_ value: Float) -> UInt64 {
        keyBits(value) ?? UInt64(Float.nan.bitPattern)
    }

    private func numberBytes(
        _ block: CachedBlock, _ stored: Catalog.StoredColumn, _ column: Int,
        _ slots: UnsafeBufferPointer<UInt16>, _ out: UnsafeMutablePointer<UInt32>,
        _ hashes: UnsafePointer<UInt64>?
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
            numberRuns(cells, slots, out, hashes)
        }
    }

    /// Several passes over some rows at a time: while one pass waits for memory, the next rows are processed.
    private func numberRuns(
        _ cells: CellColumn, _ slots: UnsafeBufferPointer<UInt16>,
        _ out: UnsafeMutablePointer<UInt32>, _ known: UnsafePointer<UInt64>?
    ) {
        let runs = self.runs
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: Self.stride) { hashes in
            for start in Swift.stride(from: 0, to: slots.count, by: Self.stride) {
                let part = start..<min(start &+ Self.stride, slots.count)
                for index in part {
                    let slot = Int(slots[index])
                    if cells.isNil(slot) { continue }
                    let hash = known?[index] ?? runs.hash(cells.bytes(slot))
                    hashes[index &- start] = hash
                    runs.prefetch(hash)
                }
                for index in part where !cells.isNil(Int(slots[index])) {
                    runs.prefetchEnd(hashes[index &- start])
                }
                for index in part where !cells.isNil(Int(slots[index])) {
                    runs.prefetchRun(hashes[index &- start])
                }
                for index in part {
                    let slot = Int(slots[index])
                    out[index] =
                        cells.isNil(slot)
                        ? 0 : runs.number(of: cells.bytes(slot), hashes[index &- start])
                }
            }
        }
    }

    private static let stride = 32

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

    // MARK: Order

    /// Sorts numbers by the order of their values; nil comes first.
    func sort(_ numbers: inout [UInt32]) {
        var some = numbers.filter { $0 > 0 }
        switch source {
        case .values, .expression:
            some.sort { SortingOrder.compare(value($0), value($1)) < 0 }
        case .words:
            var keys = some.map { (word: orderedWord($0), number: $0) }
            keys.sort { $0.word < $1.word }
            for (place, key) in keys.enumerated() { some[place] = key.number }
        case .bytes:
            for place in some.indices { some[place] -= 1 }
            runs.runs.sort(&some)
            for place in some.indices { some[place] += 1 }
        }
        numbers = [UInt32](repeating: 0, count: numbers.count - some.count) + some
    }

    /// Returns the value of a number as a word that sorts like the values.
    private func orderedWord(_ number: UInt32) -> UInt64 {
        let word = words.words[Int(number) - 1]
        return switch kind {
        case .reference, .attribute(.boolean): word
        case .attribute(.double), .attribute(.date): OrderedWord.of(Double(bitPattern: word))
        case .attribute(.float):
            OrderedWord.of(Double(Float(bitPattern: UInt32(truncatingIfNeeded: word))))
        default: OrderedWord.of(Int64(bitPattern: word))
        }
    }

    /// Prefetches the place of a number's value into the processor's cache.
    @inline(__always)
    func prefetchPlace(_ number: UInt32) {
        if case .bytes = source, number > 0 { runs.runs.prefetchEnd(Int(number) - 1) }
    }

    /// Prefetches the value of a number into the processor's cache.
    @inline(__always)
    func prefetch(_ number: UInt32) {
        if case .bytes = source, number > 0 { runs.runs.prefetch(Int(number) - 1) }
    }

    /// Returns positions sorted by the values of the numbers at them; the sort is stable.
    func sorted(_ positions: [Int], by numbers: [UInt32]) -> [Int] {
        if positions.count * 8 < most { return fewSorted(positions, by: numbers) }
        // The count of each number, and where the positions of the preceding numbers end.
        var starts = [Int](repeating: 0, count: most + 1)
        for number in numbers { starts[Int(number)] += 1 }
        var used = starts.indices.filter { starts[$0] > 0 }.map { UInt32($0) }
        sort(&used)
        var start = 0
        for number in used {
            let count = starts[Int(number)]
            starts[Int(number)] = start
            start += count
        }
        var sorted = positions
        for position in positions {
            let number = Int(numbers[position])
            sorted[starts[number]] = position
            starts[number] += 1
        }
        return sorted
    }

    /// Sorts likewise, for so few positions that iterating over all values would take longer.
    private func fewSorted(_ positions: [Int], by numbers: [UInt32]) -> [Int] {
        var used = Array(Set(numbers))
        sort(&used)
        var ranks: [UInt32: Int] = [:]
        for (rank, number) in used.enumerated() { ranks[number] = rank }
        let keys = numbers.map { ranks[$0] ?? 0 }
        return positions.enumerated()
            .sorted { (keys[$0.element], $0.offset) < (keys[$1.element], $1.offset) }
            .map(\.element)
    }

    // MARK: Values

    /// Returns the value of a number.
    func value(_ number: UInt32) -> Value {
        if number == 0 { return .null }
        switch source {
        case .values, .expression: return values[Int(number) - 1]
        case .words:
            guard let kind else { return .null }
            return Value.stored(word: words.words[Int(number) - 1], kind, identity)
        case .bytes:
            guard case .attribute(let type) = kind else { return .null }
            return Value.stored(runs.run(number), type)
        }
    }
}
