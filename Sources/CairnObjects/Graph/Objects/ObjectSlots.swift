// The values of an object that are not a stored row: of a new object all that were set, of a stored one those
// that differ. They lie in the object's annex, from when the first value is set.
//
//   set        a bit for each column: the slot counts
//   nil        a bit for each column: the value is nil, the slot is empty
//   assigned   a bit for each column: somebody set it on a new object, as opposed to its default
//   slots      16 bytes for each column: a number in the first word, or a String or Data
//
// Values are kept as Swift has them, so that setting a text costs no copy of its bytes and reading it back makes no
// new one; a save takes the bytes from here to the store's columns.
//
// Invariants: a slot is initialised exactly if it is set, not nil and of a managed kind.
// Threads: the object's.

import CairnModel
import CairnStore
import FoundationEssentials

/// A view of the slots of one object.
struct ObjectSlots {
    let base: UnsafeMutableRawPointer
    private let layout: UnsafePointer<SlotLayout>

    @inline(__always)
    init(_ base: UnsafeMutableRawPointer, _ layout: UnsafePointer<SlotLayout>) {
        self.base = base
        self.layout = layout
    }

    @inline(__always) private var words: Int { layout.pointee.words }

    /// Begins in memory that holds anything: nothing is set.
    func clear() {
        base.initializeMemory(as: UInt64.self, repeating: 0, count: words * 3)
    }

    /// Lets go of all that the slots hold. They are not used any more, or cleared before.
    func releaseAll() {
        for word in 0..<words {
            var left =
                bits(word) & ~nils(word) & layout.pointee.managed[word]
            while left != 0 {
                release(word << 6 | left.trailingZeroBitCount)
                left &= left - 1
            }
        }
    }

    // MARK: Bits

    @inline(__always) private func bits(_ word: Int) -> UInt64 {
        base.load(fromByteOffset: word &* 8, as: UInt64.self)
    }

    @inline(__always) private func nils(_ word: Int) -> UInt64 {
        base.load(fromByteOffset: (words &+ word) &* 8, as: UInt64.self)
    }

    @inline(__always) private func change(_ set: Int, _ column: Int, to value: Bool) {
        let offset = (set &* words &+ column >> 6) &* 8
        let bit = UInt64(1) << UInt64(truncatingIfNeeded: column & 63)
        let old = base.load(fromByteOffset: offset, as: UInt64.self)
        base.storeBytes(of: value ? old | bit : old & ~bit, toByteOffset: offset, as: UInt64.self)
    }

    @inline(__always) private func has(_ set: Int, _ column: Int) -> Bool {
        base.load(fromByteOffset: (set &* words &+ column >> 6) &* 8, as: UInt64.self)
            & (1 << UInt64(truncatingIfNeeded: column & 63)) != 0
    }

    /// Whether any slot counts.
    var isEmpty: Bool {
        for word in 0..<words where bits(word) != 0 { return false }
        return true
    }

    @inline(__always) func isSet(_ column: Int) -> Bool { has(0, column) }
    @inline(__always) func isNil(_ column: Int) -> Bool { has(1, column) }
    func isAssigned(_ column: Int) -> Bool { has(2, column) }
    @inline(__always) func assign(_ column: Int) { change(2, column, to: true) }

    /// Nobody has set anything, whatever the values are.
    func unassignAll() {
        for word in 0..<words {
            base.storeBytes(of: 0, toByteOffset: (2 * words + word) * 8, as: UInt64.self)
        }
    }

    /// Whether a mandatory column is nil: set to it, or on a new object not set at all.
    func lacks(_ rules: EntityRules, isNew: Bool) -> Bool {
        for word in 0..<words {
            var missing = rules.mandatory[word] & nils(word)
            if isNew { missing |= rules.mandatoryWithoutDefault[word] & ~bits(word) }
            if missing != 0 { return true }
        }
        return false
    }

    /// The columns that somebody set.
    var assigned: ColumnSet {
        var columns = ColumnSet()
        for column in 0..<count where isAssigned(column) { columns.insert(column) }
        return columns
    }

    private var count: Int { layout.pointee.columns }

    /// The columns whose slots count, ascending.
    var columns: [Int] {
        var columns: [Int] = []
        for word in 0..<words {
            var left = bits(word)
            while left != 0 {
                columns.append(word << 6 | left.trailingZeroBitCount)
                left &= left - 1
            }
        }
        return columns
    }

    // MARK: Slots

    @inline(__always) private func slot(_ column: Int) -> UnsafeMutableRawPointer {
        base + (layout.pointee.start &+ column &* 16)
    }

    @inline(__always) func kind(_ column: Int) -> SlotKind { layout.pointee.kinds[column] }

    /// The number in a slot.
    @inline(__always) func word(_ column: Int) -> UInt64 { slot(column).load(as: UInt64.self) }

    /// The second number of a slot.
    @inline(__always) func secondWord(_ column: Int) -> UInt64 {
        slot(column).load(fromByteOffset: 8, as: UInt64.self)
    }

    /// The text of a slot that has one.
    @inline(__always) func string(_ column: Int) -> UnsafeMutablePointer<String> {
        slot(column).assumingMemoryBound(to: String.self)
    }

    /// The bytes of a slot that has some.
    @inline(__always) func data(_ column: Int) -> UnsafeMutablePointer<Data> {
        slot(column).assumingMemoryBound(to: Data.self)
    }

    /// Sets a slot of numbers.
    @inline(__always) func set(_ column: Int, word: UInt64, second: UInt64 = 0) {
        slot(column).storeBytes(of: word, as: UInt64.self)
        slot(column).storeBytes(of: second, toByteOffset: 8, as: UInt64.self)
        change(0, column, to: true)
        change(1, column, to: false)
    }

    /// Sets a slot of text.
    @inline(__always) func set(_ column: Int, string value: String) {
        if isSet(column) && !isNil(column) {
            string(column).pointee = value
        } else {
            string(column).initialize(to: value)
            change(0, column, to: true)
            change(1, column, to: false)
        }
    }

    /// Sets a slot of bytes.
    func set(_ column: Int, data value: Data) {
        if isSet(column) && !isNil(column) {
            data(column).pointee = value
        } else {
            data(column).initialize(to: value)
            change(0, column, to: true)
            change(1, column, to: false)
        }
    }

    /// Sets a slot to nil.
    func setNil(_ column: Int) {
        if isSet(column) && !isNil(column) { release(column) }
        change(0, column, to: true)
        change(1, column, to: true)
    }

    /// A slot counts no more.
    func remove(_ column: Int) {
        guard isSet(column) else { return }
        if !isNil(column) { release(column) }
        change(0, column, to: false)
        change(1, column, to: false)
    }

    private func release(_ column: Int) {
        switch kind(column) {
        case .string, .uri: string(column).deinitialize(count: 1)
        case .binary, .decimal: data(column).deinitialize(count: 1)
        default: break
        }
    }
}

extension ObjectSlots {
    /// Sets a slot to a value of the column's type.
    func set(_ column: Int, _ value: Value) {
        switch value {
        case .null: setNil(column)
        case .integer(let value): set(column, word: UInt64(bitPattern: value))
        case .boolean(let value): set(column, word: value ? 1 : 0)
        case .double(let value): set(column, word: value.bitPattern)
        case .float(let value): set(column, word: UInt64(value.bitPattern))
        case .date(let value):
            set(column, word: value.timeIntervalSinceReferenceDate.bitPattern)
        case .objectID(let id):
            set(column, word: number(of: id), second: id.isTemporary ? 1 : 0)
        case .uuid(let value):
            let (low, high) = withUnsafeBytes(of: value.uuid) {
                (
                    $0.loadUnaligned(as: UInt64.self),
                    $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
                )
            }
            set(column, word: low, second: high)
        case .string(let value): set(column, string: value)
        case .uri(let value): set(column, string: value.absoluteString)
        case .binary(let value): set(column, data: value)
        case .decimal(let value):
            // NaN has no encoding, and no number has an empty one: so the object keeps it until validation refuses it.
            set(column, data: value.isNaN ? Data() : Data(DecimalCoding.encode(value)))
        }
    }

    private func number(of id: ObjectID) -> UInt64 {
        guard layout.pointee.isCoordinated else { return id.reference }
        return layout.pointee.registry._withUnsafeGuaranteedRef { $0.number(of: id) }
    }

    /// The value of a slot that counts.
    func value(_ column: Int, _ scope: EntityScope) -> Value {
        if isNil(column) { return .null }
        let word = word(column)
        switch kind(column) {
        case .integer16, .integer32, .integer: return .integer(Int64(bitPattern: word))
        case .boolean: return .boolean(word != 0)
        case .double: return .double(Double(bitPattern: word))
        case .date: return .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: word)))
        case .float: return .float(Float(bitPattern: UInt32(truncatingIfNeeded: word)))
        case .reference:
            return .objectID(
                scope.targetID(word, isTemporary: secondWord(column) != 0, column: column))
        case .uuid:
            return withUnsafeBytes(of: (word, secondWord(column))) {
                UUIDCoding.decode($0).map(Value.uuid) ?? .null
            }
        case .string: return .string(string(column).pointee)
        case .uri: return URL(string: string(column).pointee).map(Value.uri) ?? .null
        case .binary: return .binary(data(column).pointee)
        case .decimal:
            return data(column).pointee.withUnsafeBytes {
                $0.isEmpty
                    ? .decimal(.nan) : DecimalCoding.decode($0).map(Value.decimal) ?? .null
            }
        }
    }
}
