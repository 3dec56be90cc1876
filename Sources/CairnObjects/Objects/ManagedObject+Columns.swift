// The values of an object by column: what reading by key and saving stand on.

import CairnModel
import CairnStore

extension ManagedObject {
    /// Reads the row if the object is a fault.
    func fulfillIfNeeded() {
        if !isFulfilled { managedObjectContext?.fulfill(self) }
    }

    /// The value now, without reading anything.
    func presentValue(_ column: Int) -> Value {
        edits[column] ?? baseValue(column)
    }

    /// The value without edits: what is stored, or the default of a new object.
    func baseValue(_ column: Int) -> Value {
        if let row, let registry {
            return row.cells.value(column, of: entity, in: registry.identity)
        }
        if isGone || (managedObjectContext != nil && !isInserted) { return .null }
        return entity.columns[column].defaultValue
    }

    /// The value now; reads the row if need be.
    func columnValue(_ column: Int) -> Value {
        fulfillIfNeeded()
        return presentValue(column)
    }

    /// Sets a column and tells the context. Relationships go through the context instead, which keeps the
    /// other side.
    func setColumn(_ column: Int, _ value: Value) {
        fulfillIfNeeded()
        if isAwakening { return setPrimitiveColumn(column, value) }
        guard !isGone else { return }
        let old = presentValue(column)
        put(column, value)
        untracked.remove(column)
        awakened.remove(column)
        if isInserted || managedObjectContext == nil { assigned.insert(column) }
        managedObjectContext?.objectDidChange(self, isReal: old != value)
    }

    /// Sets a column and tells nobody.
    func setPrimitiveColumn(_ column: Int, _ value: Value) {
        fulfillIfNeeded()
        guard !isGone else { return }
        put(column, value)
        untracked.insert(column)
        if isAwakening { awakened.insert(column) } else { awakened.remove(column) }
    }

    private func put(_ column: Int, _ value: Value) {
        if row != nil, baseValue(column) == value {
            edits[column] = nil
        } else {
            edits[column] = value
        }
    }

    /// The columns that a save has to write, in order.
    var editedColumns: [Int] { edits.keys.filter { !awakened.contains($0) }.sorted() }

    /// Drops edits that a newer row has made equal to what is stored.
    func rebase(on newer: Row) {
        row = newer
        isFulfilled = true
        isGone = false
        for (column, value) in edits where baseValue(column) == value { edits[column] = nil }
    }

    /// Lets go of all edits; nothing is told to the other sides of relationships.
    func dropEdits() {
        edits = [:]
        assigned = ColumnSet()
        untracked = ColumnSet()
        awakened = ColumnSet()
        for index in toMany.keys where !isTransient(index) { toMany[index]?.revert() }
    }

    /// Whether a relationship lives in memory only.
    func isTransient(_ relationship: Int) -> Bool {
        entity.relationships[relationship].storage == .transient
    }

    /// Forgets the members that were read; they are asked for again.
    func unloadMembers() {
        for index in toMany.keys where !isTransient(index) { toMany[index]?.unload() }
    }

    /// Lets go of the values. Transient ones return to their defaults if `resetsTransients`.
    func turnIntoFault(resetsTransients: Bool) {
        let wasFault = isFault
        if !wasFault { willTurnIntoFault() }
        dropEdits()
        row = nil
        isFulfilled = false
        unloadMembers()
        if resetsTransients { resetTransients() }
        if !wasFault { didTurnIntoFault() }
    }

    /// Gives transient properties their defaults.
    func resetTransients() {
        transients = [:]
        transientTargets = [:]
        for index in toMany.keys where isTransient(index) { toMany[index] = nil }
    }

    /// What was edited is stored now, as this row says.
    func commitEdits(_ stored: Row?) {
        edits = edits.filter { awakened.contains($0.key) }
        assigned = ColumnSet()
        untracked = awakened
        if let stored {
            row = stored
            isFulfilled = true
        }
    }
}
