// The accessors' calls for the commonest types: the same as the generic ones, but chosen by the compiler before
// them, so that they can be as direct as the memory allows.

import CairnModel
import CairnStore
public import FoundationEssentials

extension ManagedObject {
    /// The value of a property of type `Int`. Generated accessors call it.
    public final func _read(_ property: Int) -> Int {
        wordValue(property) ?? missingValue(property) ?? Int._empty
    }

    /// The value of an optional property of type `Int`. Generated accessors call it.
    public final func _read(_ property: Int) -> Int? {
        wordValue(property)
    }

    /// Sets a property of type `Int`. Generated accessors call it.
    public final func _write(_ property: Int, _ value: Int) {
        setWordValue(property, value)
    }

    /// Sets an optional property of type `Int`. Generated accessors call it.
    public final func _write(_ property: Int, _ value: Int?) {
        if let value { setWordValue(property, value) } else { setStoredValue(property, .null) }
    }
}

extension ManagedObject {
    /// The value of a property of type `Int64`. Generated accessors call it.
    public final func _read(_ property: Int) -> Int64 {
        wordValue(property) ?? missingValue(property) ?? Int64._empty
    }

    /// The value of an optional property of type `Int64`. Generated accessors call it.
    public final func _read(_ property: Int) -> Int64? {
        wordValue(property)
    }

    /// Sets a property of type `Int64`. Generated accessors call it.
    public final func _write(_ property: Int, _ value: Int64) {
        setWordValue(property, value)
    }

    /// Sets an optional property of type `Int64`. Generated accessors call it.
    public final func _write(_ property: Int, _ value: Int64?) {
        if let value { setWordValue(property, value) } else { setStoredValue(property, .null) }
    }
}

extension ManagedObject {
    /// The value of a property of type `Int32`. Generated accessors call it.
    public final func _read(_ property: Int) -> Int32 {
        wordValue(property) ?? missingValue(property) ?? Int32._empty
    }

    /// The value of an optional property of type `Int32`. Generated accessors call it.
    public final func _read(_ property: Int) -> Int32? {
        wordValue(property)
    }

    /// Sets a property of type `Int32`. Generated accessors call it.
    public final func _write(_ property: Int, _ value: Int32) {
        setWordValue(property, value)
    }

    /// Sets an optional property of type `Int32`. Generated accessors call it.
    public final func _write(_ property: Int, _ value: Int32?) {
        if let value { setWordValue(property, value) } else { setStoredValue(property, .null) }
    }
}

extension ManagedObject {
    /// The value of a property of type `Int16`. Generated accessors call it.
    public final func _read(_ property: Int) -> Int16 {
        wordValue(property) ?? missingValue(property) ?? Int16._empty
    }

    /// The value of an optional property of type `Int16`. Generated accessors call it.
    public final func _read(_ property: Int) -> Int16? {
        wordValue(property)
    }

    /// Sets a property of type `Int16`. Generated accessors call it.
    public final func _write(_ property: Int, _ value: Int16) {
        setWordValue(property, value)
    }

    /// Sets an optional property of type `Int16`. Generated accessors call it.
    public final func _write(_ property: Int, _ value: Int16?) {
        if let value { setWordValue(property, value) } else { setStoredValue(property, .null) }
    }
}

extension ManagedObject {
    /// The value of a property of type `Double`. Generated accessors call it.
    public final func _read(_ property: Int) -> Double {
        wordValue(property) ?? missingValue(property) ?? Double._empty
    }

    /// The value of an optional property of type `Double`. Generated accessors call it.
    public final func _read(_ property: Int) -> Double? {
        wordValue(property)
    }

    /// Sets a property of type `Double`. Generated accessors call it.
    public final func _write(_ property: Int, _ value: Double) {
        setWordValue(property, value)
    }

    /// Sets an optional property of type `Double`. Generated accessors call it.
    public final func _write(_ property: Int, _ value: Double?) {
        if let value { setWordValue(property, value) } else { setStoredValue(property, .null) }
    }
}

extension ManagedObject {
    /// The value of a property of type `Float`. Generated accessors call it.
    public final func _read(_ property: Int) -> Float {
        wordValue(property) ?? missingValue(property) ?? Float._empty
    }

    /// The value of an optional property of type `Float`. Generated accessors call it.
    public final func _read(_ property: Int) -> Float? {
        wordValue(property)
    }

    /// Sets a property of type `Float`. Generated accessors call it.
    public final func _write(_ property: Int, _ value: Float) {
        setWordValue(property, value)
    }

    /// Sets an optional property of type `Float`. Generated accessors call it.
    public final func _write(_ property: Int, _ value: Float?) {
        if let value { setWordValue(property, value) } else { setStoredValue(property, .null) }
    }
}

extension ManagedObject {
    /// The value of a property of type `Bool`. Generated accessors call it.
    public final func _read(_ property: Int) -> Bool {
        wordValue(property) ?? missingValue(property) ?? Bool._empty
    }

    /// The value of an optional property of type `Bool`. Generated accessors call it.
    public final func _read(_ property: Int) -> Bool? {
        wordValue(property)
    }

    /// Sets a property of type `Bool`. Generated accessors call it.
    public final func _write(_ property: Int, _ value: Bool) {
        setWordValue(property, value)
    }

    /// Sets an optional property of type `Bool`. Generated accessors call it.
    public final func _write(_ property: Int, _ value: Bool?) {
        if let value { setWordValue(property, value) } else { setStoredValue(property, .null) }
    }
}

extension ManagedObject {
    /// The value of a property of type `Date`. Generated accessors call it.
    public final func _read(_ property: Int) -> Date {
        wordValue(property) ?? missingValue(property) ?? Date._empty
    }

    /// The value of an optional property of type `Date`. Generated accessors call it.
    public final func _read(_ property: Int) -> Date? {
        wordValue(property)
    }

    /// Sets a property of type `Date`. Generated accessors call it.
    public final func _write(_ property: Int, _ value: Date) {
        setWordValue(property, value)
    }

    /// Sets an optional property of type `Date`. Generated accessors call it.
    public final func _write(_ property: Int, _ value: Date?) {
        if let value { setWordValue(property, value) } else { setStoredValue(property, .null) }
    }
}

extension ManagedObject {
    /// The value of a property of type `String`. Generated accessors call it.
    public final func _read(_ property: Int) -> String {
        textValue(property) ?? missingValue(property) ?? String._empty
    }

    /// The value of an optional property of type `String`. Generated accessors call it.
    public final func _read(_ property: Int) -> String? {
        textValue(property)
    }

    /// Sets a property of type `String`. Generated accessors call it.
    public final func _write(_ property: Int, _ value: String) {
        setTextValue(property, value)
    }

    /// Sets an optional property of type `String`. Generated accessors call it.
    public final func _write(_ property: Int, _ value: String?) {
        if let value { setTextValue(property, value) } else { setStoredValue(property, .null) }
    }
}
