// The accessors' calls for the commonest types: the same as the generic ones, but chosen by the compiler before
// them, so that they can be as direct as the memory allows.

import CairnModel
import CairnStore
public import FoundationEssentials

extension ManagedObject {
    /// The value of a property of type `Int`. Generated accessors call it.
    public final func _read(_ property: Int) -> Int {
        plainValue(property) ?? missingValue(property) ?? Int._empty
    }

    /// The value of an optional property of type `Int`. Generated accessors call it.
    public final func _read(_ property: Int) -> Int? {
        plainValue(property)
    }

    /// Sets a property of type `Int`. Generated accessors call it.
    public final func _write(_ property: Int, _ value: Int) {
        setStoredValue(property, value.attributeValue)
    }

    /// Sets an optional property of type `Int`. Generated accessors call it.
    public final func _write(_ property: Int, _ value: Int?) {
        setStoredValue(property, value.attributeValue)
    }
}

extension ManagedObject {
    /// The value of a property of type `Int64`. Generated accessors call it.
    public final func _read(_ property: Int) -> Int64 {
        plainValue(property) ?? missingValue(property) ?? Int64._empty
    }

    /// The value of an optional property of type `Int64`. Generated accessors call it.
    public final func _read(_ property: Int) -> Int64? {
        plainValue(property)
    }

    /// Sets a property of type `Int64`. Generated accessors call it.
    public final func _write(_ property: Int, _ value: Int64) {
        setStoredValue(property, value.attributeValue)
    }

    /// Sets an optional property of type `Int64`. Generated accessors call it.
    public final func _write(_ property: Int, _ value: Int64?) {
        setStoredValue(property, value.attributeValue)
    }
}

extension ManagedObject {
    /// The value of a property of type `Int32`. Generated accessors call it.
    public final func _read(_ property: Int) -> Int32 {
        plainValue(property) ?? missingValue(property) ?? Int32._empty
    }

    /// The value of an optional property of type `Int32`. Generated accessors call it.
    public final func _read(_ property: Int) -> Int32? {
        plainValue(property)
    }

    /// Sets a property of type `Int32`. Generated accessors call it.
    public final func _write(_ property: Int, _ value: Int32) {
        setStoredValue(property, value.attributeValue)
    }

    /// Sets an optional property of type `Int32`. Generated accessors call it.
    public final func _write(_ property: Int, _ value: Int32?) {
        setStoredValue(property, value.attributeValue)
    }
}

extension ManagedObject {
    /// The value of a property of type `Int16`. Generated accessors call it.
    public final func _read(_ property: Int) -> Int16 {
        plainValue(property) ?? missingValue(property) ?? Int16._empty
    }

    /// The value of an optional property of type `Int16`. Generated accessors call it.
    public final func _read(_ property: Int) -> Int16? {
        plainValue(property)
    }

    /// Sets a property of type `Int16`. Generated accessors call it.
    public final func _write(_ property: Int, _ value: Int16) {
        setStoredValue(property, value.attributeValue)
    }

    /// Sets an optional property of type `Int16`. Generated accessors call it.
    public final func _write(_ property: Int, _ value: Int16?) {
        setStoredValue(property, value.attributeValue)
    }
}

extension ManagedObject {
    /// The value of a property of type `Double`. Generated accessors call it.
    public final func _read(_ property: Int) -> Double {
        plainValue(property) ?? missingValue(property) ?? Double._empty
    }

    /// The value of an optional property of type `Double`. Generated accessors call it.
    public final func _read(_ property: Int) -> Double? {
        plainValue(property)
    }

    /// Sets a property of type `Double`. Generated accessors call it.
    public final func _write(_ property: Int, _ value: Double) {
        setStoredValue(property, value.attributeValue)
    }

    /// Sets an optional property of type `Double`. Generated accessors call it.
    public final func _write(_ property: Int, _ value: Double?) {
        setStoredValue(property, value.attributeValue)
    }
}

extension ManagedObject {
    /// The value of a property of type `Float`. Generated accessors call it.
    public final func _read(_ property: Int) -> Float {
        plainValue(property) ?? missingValue(property) ?? Float._empty
    }

    /// The value of an optional property of type `Float`. Generated accessors call it.
    public final func _read(_ property: Int) -> Float? {
        plainValue(property)
    }

    /// Sets a property of type `Float`. Generated accessors call it.
    public final func _write(_ property: Int, _ value: Float) {
        setStoredValue(property, value.attributeValue)
    }

    /// Sets an optional property of type `Float`. Generated accessors call it.
    public final func _write(_ property: Int, _ value: Float?) {
        setStoredValue(property, value.attributeValue)
    }
}

extension ManagedObject {
    /// The value of a property of type `Bool`. Generated accessors call it.
    public final func _read(_ property: Int) -> Bool {
        plainValue(property) ?? missingValue(property) ?? Bool._empty
    }

    /// The value of an optional property of type `Bool`. Generated accessors call it.
    public final func _read(_ property: Int) -> Bool? {
        plainValue(property)
    }

    /// Sets a property of type `Bool`. Generated accessors call it.
    public final func _write(_ property: Int, _ value: Bool) {
        setStoredValue(property, value.attributeValue)
    }

    /// Sets an optional property of type `Bool`. Generated accessors call it.
    public final func _write(_ property: Int, _ value: Bool?) {
        setStoredValue(property, value.attributeValue)
    }
}

extension ManagedObject {
    /// The value of a property of type `Date`. Generated accessors call it.
    public final func _read(_ property: Int) -> Date {
        plainValue(property) ?? missingValue(property) ?? Date._empty
    }

    /// The value of an optional property of type `Date`. Generated accessors call it.
    public final func _read(_ property: Int) -> Date? {
        plainValue(property)
    }

    /// Sets a property of type `Date`. Generated accessors call it.
    public final func _write(_ property: Int, _ value: Date) {
        setStoredValue(property, value.attributeValue)
    }

    /// Sets an optional property of type `Date`. Generated accessors call it.
    public final func _write(_ property: Int, _ value: Date?) {
        setStoredValue(property, value.attributeValue)
    }
}

extension ManagedObject {
    /// The value of a property of type `String`. Generated accessors call it.
    public final func _read(_ property: Int) -> String {
        plainValue(property) ?? missingValue(property) ?? String._empty
    }

    /// The value of an optional property of type `String`. Generated accessors call it.
    public final func _read(_ property: Int) -> String? {
        plainValue(property)
    }

    /// Sets a property of type `String`. Generated accessors call it.
    public final func _write(_ property: Int, _ value: String) {
        setStoredValue(property, value.attributeValue)
    }

    /// Sets an optional property of type `String`. Generated accessors call it.
    public final func _write(_ property: Int, _ value: String?) {
        setStoredValue(property, value.attributeValue)
    }
}
