// Values of typed properties straight from and into an object's memory: numbers as words, texts as they are.
//
//   1. The property's column is looked up by number.
//   2. A slot that counts has the value; else the row's cell has it.
//   3. Setting goes straight into the slot of a new object. What is more than that (a fault, a row to compare with, values
//      set while awakening) goes the way of every value.
//
// Invariants: as `setColumn`, which does the same with values of any kind.
// Threads: the object's.

import CairnModel
import CairnStore
import FoundationEssentials

/// A type whose values are one word in a slot and in a row.
protocol WordValue: PropertyValue {
    /// The value of a word; nil if it is out of range.
    static func fromWord(_ word: UInt64) -> Self?
    var word: UInt64 { get }
}

extension Int: WordValue {
    @inline(__always) static func fromWord(_ word: UInt64) -> Int? {
        Int(exactly: Int64(bitPattern: word))
    }
    @inline(__always) var word: UInt64 { UInt64(bitPattern: Int64(self)) }
}

extension Int64: WordValue {
    @inline(__always) static func fromWord(_ word: UInt64) -> Int64? { Int64(bitPattern: word) }
    @inline(__always) var word: UInt64 { UInt64(bitPattern: self) }
}

extension Int32: WordValue {
    @inline(__always) static func fromWord(_ word: UInt64) -> Int32? {
        Int32(exactly: Int64(bitPattern: word))
    }
    @inline(__always) var word: UInt64 { UInt64(bitPattern: Int64(self)) }
}

extension Int16: WordValue {
    @inline(__always) static func fromWord(_ word: UInt64) -> Int16? {
        Int16(exactly: Int64(bitPattern: word))
    }
    @inline(__always) var word: UInt64 { UInt64(bitPattern: Int64(self)) }
}

extension Bool: WordValue {
    @inline(__always) static func fromWord(_ word: UInt64) -> Bool? { word != 0 }
    @inline(__always) var word: UInt64 { self ? 1 : 0 }
}

extension Double: WordValue {
    @inline(__always) static func fromWord(_ word: UInt64) -> Double? { Double(bitPattern: word) }
    @inline(__always) var word: UInt64 { bitPattern }
}

extension Float: WordValue {
    @inline(__always) static func fromWord(_ word: UInt64) -> Float? {
        Float(bitPattern: UInt32(truncatingIfNeeded: word))
    }
    @inline(__always) var word: UInt64 { UInt64(bitPattern) }
}

extension Date: WordValue {
    @inline(__always) static func fromWord(_ word: UInt64) -> Date? {
        Date(timeIntervalSinceReferenceDate: Double(bitPattern: word))
    }
    @inline(__always) var word: UInt64 { timeIntervalSinceReferenceDate.bitPattern }
}

extension ManagedObject {
    /// The column of a property of the class; nil if it has none, or if the object is of another class than its entity's.
    @inline(__always)
    private final func directColumn(
        _ property: Int
    ) -> (column: Int, layout: UnsafePointer<SlotLayout>)? {
        guard layout.pointee.type == ObjectIdentifier(type(of: self)) else { return nil }
        return column(property)
    }

    /// The same for reading; nil also if whoever reads has to look for somebody who tracks.
    @inline(__always)
    private final func readableColumn(
        _ property: Int
    ) -> (column: Int, layout: UnsafePointer<SlotLayout>)? {
        guard layout.pointee.readableType == ObjectIdentifier(type(of: self)) else { return nil }
        return column(property)
    }

    @inline(__always)
    private final func column(
        _ property: Int
    ) -> (column: Int, layout: UnsafePointer<SlotLayout>)? {
        guard property < layout.pointee.propertyCount,
            case .column(let column) = layout.pointee.properties[property]
        else { return nil }
        return (column, layout)
    }

    /// The value of a property that is one word; nil if it has none.
    @inline(__always)
    final func wordValue<V: WordValue>(_ property: Int) -> V? {
        fulfillIfNeeded(.property(property))
        guard let (column, layout) = readableColumn(property) else {
            return observedWord(property)
        }
        return word(property, column, layout)
    }

    @inline(__always)
    private final func word<V: WordValue>(
        _ property: Int, _ column: Int, _ layout: UnsafePointer<SlotLayout>
    ) -> V? {
        if let slots {
            let slots = ObjectSlots(slots, layout)
            if slots.isSet(column) {
                return slots.isNil(column) ? nil : V.fromWord(slots.word(column))
            }
        }
        if let row = rowAddress {
            return RowCells.word(row, column, of: layout.pointee.columns).flatMap(V.fromWord)
        }
        return plainValue(property)
    }

    /// The same where somebody may track what is read, or the property is not in a column.
    @inline(never)
    private final func observedWord<V: WordValue>(_ property: Int) -> V? {
        guard isObservable, let (column, layout) = directColumn(property) else {
            return plainValue(property)
        }
        noteAccess(.column(column))
        return word(property, column, layout)
    }

    /// The text of a property; nil if it has none.
    @inline(__always)
    final func textValue(_ property: Int) -> String? {
        fulfillIfNeeded(.property(property))
        guard let (column, layout) = readableColumn(property) else {
            return observedText(property)
        }
        return text(property, column, layout)
    }

    @inline(__always)
    private final func text(
        _ property: Int, _ column: Int, _ layout: UnsafePointer<SlotLayout>
    ) -> String? {
        if let slots {
            let slots = ObjectSlots(slots, layout)
            if slots.isSet(column) {
                return slots.isNil(column) ? nil : slots.string(column).pointee
            }
        }
        if let row = rowAddress {
            return RowCells.string(row, column, of: layout.pointee.columns)
        }
        return plainValue(property)
    }

    /// The same where somebody may track what is read, or the property is not in a column.
    @inline(never)
    private final func observedText(_ property: Int) -> String? {
        guard isObservable, let (column, layout) = directColumn(property) else {
            return plainValue(property)
        }
        noteAccess(.column(column))
        return text(property, column, layout)
    }

    /// Whether a value can go straight into a slot: the object is new, and nothing is special about it.
    @inline(__always)
    private final var isPlainlyNew: Bool {
        flags.isSuperset(of: [.inserted, .fulfilled])
            && flags.isDisjoint(with: [.gone, .awakening, .slotsAreRow, .recreated, .keyed])
            && !hasCells && rarer == nil && isNotedAsChanged
    }

    /// Sets a property that is one word.
    @inline(__always)
    final func setWordValue<V: WordValue>(_ property: Int, _ value: V) {
        guard isPlainlyNew, let (column, layout) = directColumn(property),
            layout.pointee.kinds[column].hasRoom(for: value.word)
        else { return setStoredValue(property, value.attributeValue) }
        let slots = slotsOfNew(layout)
        let isReal = !slots.isSet(column) || slots.isNil(column) || slots.word(column) != value.word
        slots.set(column, word: value.word)
        slots.assign(column)
        if isReal { layout.pointee.context?._withUnsafeGuaranteedRef { $0.noteEdit() } }
    }

    /// Sets a property of type `String`.
    @inline(__always)
    final func setTextValue(_ property: Int, _ value: String) {
        guard isPlainlyNew, let (column, layout) = directColumn(property) else {
            return setStoredValue(property, .string(value))
        }
        let slots = slotsOfNew(layout)
        let isReal =
            !slots.isSet(column) || slots.isNil(column)
            || !slots.string(column).pointee.hasSameBytes(as: value)
        slots.set(column, string: value)
        slots.assign(column)
        if isReal { layout.pointee.context?._withUnsafeGuaranteedRef { $0.noteEdit() } }
    }

    @inline(__always)
    private final func slotsOfNew(_ layout: UnsafePointer<SlotLayout>) -> ObjectSlots {
        if let slots { return ObjectSlots(slots, layout) }
        return addSlots()
    }
}
