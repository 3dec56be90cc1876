// A row as an object for expressions.
//
// Its block is looked up when the first value is read: counting members requires none. An unreadable value is
// nil, and `StoredObjects` keeps the error.
//
// Threads: owned by one reading, as its `StoredObjects`.

import CairnFormat
import CairnModel
import CairnStore
import FoundationEssentials

/// An object of a pinned state.
final class StoredObject: EvaluatedObject {
    private let objects: StoredObjects
    /// Its number in its tree.
    let number: UInt32
    /// The place of its row; empty if there is none: a to-one relationship without a delete rule may refer to
    /// an object that does not exist.
    let cell: DirectoryCell
    let evaluatedEntity: SchemaEntity
    private var block: CachedBlock?

    init(
        _ objects: StoredObjects, number: UInt32, cell: DirectoryCell, entity: SchemaEntity,
        block: CachedBlock? = nil
    ) {
        self.objects = objects
        self.number = number
        self.cell = cell
        evaluatedEntity = entity
        self.block = block
    }

    var evaluatedID: ObjectID {
        objects.identity.id(UInt64(number), entity: evaluatedEntity.index)
    }

    func evaluatedColumn(_ index: Int) -> Value {
        guard !cell.isEmpty else { return .null }
        return objects.reading(or: .null) { () throws(StoreError) in
            try objects.value(
                index, of: evaluatedEntity, try loadedBlock(), cell.slot)
        }
    }

    private func loadedBlock() throws(StoreError) -> CachedBlock {
        if let block { return block }
        let block = try objects.block(cell.handle)
        self.block = block
        return block
    }

    func evaluatedAttribute(_ index: Int) -> Value {
        let attribute = evaluatedEntity.attributes[index]
        if attribute.description.isTransient {
            objects.fail(StoreError(transient: attribute.description, of: evaluatedEntity))
            return .null
        }
        return attribute.columns.count == 1
            ? evaluatedColumn(attribute.columns.lowerBound) : .null
    }

    func evaluatedTarget(_ relationship: Int) -> (any EvaluatedObject)? {
        let description = evaluatedEntity.relationships[relationship]
        guard case .column(let column) = description.storage, !cell.isEmpty else { return nil }
        let number = objects.reading(or: nil) { () throws(StoreError) -> UInt32? in
            try objects.target(column, of: evaluatedEntity, try loadedBlock(), cell.slot)
        }
        return number.map { objects.object($0, of: description.destination) }
    }

    func evaluatedMembers(_ relationship: Int) -> [any EvaluatedObject] {
        guard !cell.isEmpty else { return [] }
        let description = evaluatedEntity.relationships[relationship]
        let numbers = objects.reading(or: []) { () throws(StoreError) in
            try objects.members(relationship, of: evaluatedEntity, number)
        }
        return numbers.map { objects.object($0, of: description.destination) }
    }
}
