// Values that an attribute was set to and that no store can take: their transformer, or their own `encode(to:)`, has thrown.
//
//   1. The setter keeps the value: it is read as it was set. The attribute's columns stay as they were.
//   2. The object counts as changed, and its validation throws why, until the attribute is set otherwise or the edit is given up.
//
// Undo and redo take them along; a save never sees them.
//
// Threads: the context's.

import CairnModel
import CairnStore

/// A value that cannot be saved.
final class RefusedValue {
    /// As it was set.
    let value: Any
    /// The name of its type, for people.
    let typeName: String
    /// Why it cannot be saved.
    let cause: any Error

    init(_ value: Any, _ typeName: String, _ cause: any Error) {
        self.value = value
        self.typeName = typeName
        self.cause = cause
    }
}

extension ManagedObject {
    /// Whether something was set that cannot be saved.
    final var hasRefusals: Bool {
        guard let rarer else { return false }
        return !rarer.refused.isEmpty || !rarer.lostTargets.isEmpty
    }

    /// Forgets all that was set and cannot be saved.
    final func forgetRefusals() {
        guard hasRefusals else { return }
        extras.refused = [:]
        extras.lostTargets = [:]
    }

    /// The attribute that a column is of.
    private func attribute(ofColumn column: Int) -> Int? {
        entity.attributes.firstIndex { $0.columns.contains(column) }
    }

    /// Forgets the value that an attribute could not be saved with, since one of its columns is set; whether there was one.
    @discardableResult
    final func forgetRefusal(ofColumn column: Int) -> Bool {
        guard let rarer, !rarer.refused.isEmpty, let index = attribute(ofColumn: column) else {
            return false
        }
        return rarer.refused.removeValue(forKey: index) != nil
    }

    /// Keeps a value that an attribute cannot be saved with, or with nil forgets it.
    final func setRefused(_ index: Int, _ refused: RefusedValue?) {
        fulfillIfNeeded()
        guard !isGone else { return }
        let attribute = entity.attributes[index]
        let place: PropertyPlace =
            attribute.description.isTransient
            ? .transient(index) : .column(attribute.columns.lowerBound)
        if isAwakening {
            extras.refused[index] = refused
            return
        }
        willChange(place)
        managedObjectContext?.objectWillChange(self)
        extras.refused[index] = refused
        managedObjectContext?.objectDidChange(self, isReal: true)
        didChange(place)
    }

    /// Keeps a value that the attribute of a column cannot be saved with.
    final func refuse(column: Int, _ refused: RefusedValue) {
        if let index = attribute(ofColumn: column) { setRefused(index, refused) }
    }

    /// Keeps a value that a property of the class cannot be saved with.
    final func refuse(_ property: Int, _ refused: RefusedValue) {
        switch binding.slot(property) {
        case .column(let column): refuse(column: column, refused)
        case .transient(let index): setRefused(index, refused)
        case .composite(let list):
            if let column = binding.columns(ofComposite: list).first {
                refuse(column: column, refused)
            }
        default: mismatch(property)
        }
    }

    /// The value that a property of the class was set to and cannot be saved with.
    @inline(__always)
    final func refusedValue<V>(_ property: Int) -> V? {
        guard let rarer, !rarer.refused.isEmpty else { return nil }
        return refused(property)?.value as? V
    }

    private func refused(_ property: Int) -> RefusedValue? {
        fulfillIfNeeded()
        let index: Int? =
            switch binding.slot(property) {
            case .column(let column): attribute(ofColumn: column)
            case .transient(let index): index
            case .composite(let list):
                binding.columns(ofComposite: list).first.flatMap { attribute(ofColumn: $0) }
            default: nil
            }
        return index.flatMap { rarer?.refused[$0] }
    }

    /// Whether the attribute of a column was set to what cannot be saved.
    final func isRefused(column: Int) -> Bool {
        guard let rarer, !rarer.refused.isEmpty else { return false }
        return attribute(ofColumn: column).map { rarer.refused[$0] != nil } ?? false
    }

    /// An error for each value that cannot be saved, and for each object that is no more and that a relationship was set to.
    final var refusalErrors: [StoreError] {
        guard let rarer, hasRefusals else { return [] }
        let values = rarer.refused.inKeyOrder().map { index, refused in
            refusal(
                entity.attributes[index].description.name, refused.typeName, refused.cause)
        }
        return values + errorsOfLostTargets
    }

    /// Why a value cannot be saved.
    final func refusal(_ key: String, _ typeName: String, _ cause: any Error) -> StoreError {
        StoreError(
            .validation,
            "the value of type \(typeName) could not be encoded. Set another one",
            context: .init(entity: entity.name, key: key, objectID: objectID), cause: cause)
    }
}
