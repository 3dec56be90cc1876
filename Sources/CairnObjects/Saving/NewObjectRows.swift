// The new objects of a save as the rows that a store takes as columns.
//
//   1. The changed objects are looked at once. What is more than new rows (changes of stored objects, deletions, pairs,
//      objects that have their ids already) makes the save one for the store's planner.
//   2. A batch is filled object by object, from the slots; a text goes from where it is to the column's bytes.
//
// Invariants: nothing is changed here.
// Threads: the context's; the store fills batches in the thread that saves.

import CairnModel
import CairnStore
import FoundationEssentials

/// New objects, and nothing else, that are to be saved.
struct NewObjectRows: NewRowSource {
    /// All new objects, in the order of their creation.
    private(set) var objects: [ManagedObject] = []
    private(set) var groups: [NewObjects] = []
    private let registry: ObjectRegistry
    /// What stands for the store in references; 0 without a coordinator.
    private let store: UInt64
    /// By place among the changed objects of the context: that among the new ones. Made when it is first needed.
    private var positions: [Int32] = []
    private let places: Int

    /// Changed objects that are saved by this too, since they have nothing to be written.
    private(set) var others: [ManagedObject] = []

    /// The new objects among changed ones; nil if there is more to be saved than those, or if there are few of them.
    init?(
        _ changed: borrowing ChangedObjects, in context: ManagedObjectContext, of store: UInt32
    ) {
        registry = context.registry
        self.store = UInt64(store)
        places = changed.places
        guard changed.count >= Self.fewest else { return nil }
        objects.reserveCapacity(changed.count)
        var groupOfEntity = [Int](repeating: -1, count: context.schema.entities.count)
        var isPlain = true
        changed.look { object in
            isPlain = take(object, &groupOfEntity)
            return isPlain
        }
        guard isPlain, objects.count >= Self.fewest else { return nil }
    }

    /// Notes an object; false if it makes the save more than one of new objects.
    private mutating func take(_ object: ManagedObject, _ groupOfEntity: inout [Int]) -> Bool {
        if let rarer = object.rarer,
            !rarer.awakened.isEmpty || rarer.hasStagedValue || rarer.assignedStore != nil
                || object.hasPairChanges || object.hasOrderToSave
        {
            return false
        }
        guard object.isInserted else {
            if object.isDeleted || object.hasEdits { return false }
            others.append(object)
            return true
        }
        if object.isDeleted { return true }
        guard object.hasTemporaryID, !object.isRecreated else { return false }
        let entity = object.layout.pointee.entity._withUnsafeGuaranteedRef { $0.index }
        if groupOfEntity[entity] < 0 {
            groupOfEntity[entity] = groups.count
            groups.append(NewObjects(entity: entity))
        }
        groups[groupOfEntity[entity]].positions.append(Int32(objects.count))
        objects.append(object)
        return true
    }

    /// As few as that are not worth the room that a batch of columns takes.
    private static let fewest = 16

    mutating func fill(_ batch: ColumnBatch, group: Int, from start: Int, _ numbers: NewNumbers)
        -> Bool
    {
        let places = groups[group].positions
        var row = batch.rows
        defer { batch.rows = row }
        for place in places[start...] {
            guard row < ColumnBatch.capacity, !batch.isFull else { break }
            let object = objects[Int(place)]
            guard put(object, batch.columns, row, numbers) else { return false }
            row += 1
        }
        return true
    }

    @inline(__always)
    private mutating func put(
        _ object: ManagedObject, _ columns: UnsafeMutableBufferPointer<ColumnBuffer>, _ row: Int,
        _ numbers: NewNumbers
    ) -> Bool {
        guard let base = object.slots else {
            for column in columns.indices {
                guard columns[column].store(object.baseValue(column), row: row) else {
                    return false
                }
            }
            return true
        }
        let slots = ObjectSlots(base, object.layout)
        for column in columns.indices {
            guard slots.isSet(column) else {
                if !columns[column].store(object.scope.defaults[column], row: row) { return false }
                continue
            }
            if slots.isNil(column) {
                columns[column].setNil(row: row)
                continue
            }
            switch slots.kind(column) {
            case .integer16, .integer32, .integer, .boolean:
                columns[column].setInteger(Int64(bitPattern: slots.word(column)), row: row)
            case .double, .date:
                columns[column].setDouble(Double(bitPattern: slots.word(column)), row: row)
            case .float:
                columns[column].setFloat(
                    Float(bitPattern: UInt32(truncatingIfNeeded: slots.word(column))), row: row)
            case .string, .uri:
                columns[column].setString(slots.string(column).pointee, row: row)
            case .uuid:
                withUnsafeBytes(of: (slots.word(column), slots.secondWord(column))) {
                    columns[column].setFixed16($0, row: row)
                }
            case .decimal where slots.data(column).pointee.isEmpty:
                // NaN, which validation refuses where it is asked.
                columns[column].setNil(row: row)
            case .binary, .decimal:
                slots.data(column).pointee.withUnsafeBytes {
                    columns[column].setBytes($0, row: row)
                }
            case .reference:
                guard let target = target(slots, column, object, numbers) else { return false }
                if target == 0 {
                    columns[column].setNil(row: row)
                } else {
                    columns[column].setInteger(Int64(target), row: row)
                }
            }
        }
        return true
    }

    /// The number that a reference leads to; 0 for none, nil if it leads to what is no part of the save.
    private mutating func target(
        _ slots: ObjectSlots, _ column: Int, _ object: ManagedObject, _ numbers: NewNumbers
    ) -> UInt32? {
        let number = slots.word(column)
        guard slots.secondWord(column) != 0 else {
            return number >> 32 == store || number == 0
                ? UInt32(truncatingIfNeeded: number) : nil
        }
        // What leads to an object that never came to be leads nowhere.
        guard
            let object = registry.object(
                for: object.scope.targetID(number, isTemporary: true, column: column))
        else { return 0 }
        return position(of: object).map { numbers[$0] }
    }

    /// The place of an object among the new ones.
    mutating func position(of object: ManagedObject) -> Int? {
        if positions.isEmpty {
            positions = Array(repeating: -1, count: places)
            for (position, object) in objects.enumerated() {
                positions[Int(object.changedIndex)] = Int32(position)
            }
        }
        let index = Int(object.changedIndex)
        guard positions.indices.contains(index), positions[index] >= 0 else { return nil }
        return Int(positions[index])
    }
}

extension ManagedObject {
    /// Whether the order of its members is not what the store makes by itself.
    fileprivate var hasOrderToSave: Bool {
        guard let rarer, !rarer.toMany.isEmpty else { return false }
        return managedObjectContext?.hasOrderToSave(self) ?? false
    }

    /// Whether members of a relationship that is kept as pairs were added or removed.
    var hasPairChanges: Bool {
        guard let rarer, !rarer.toMany.isEmpty else { return false }
        return rarer.toMany.contains { index, state in
            guard state.hasChanges, case .pairs = entity.relationships[index].storage else {
                return false
            }
            return true
        }
    }
}

extension ManagedObjectContext {
    /// Saves new objects as columns, if there is nothing else to be saved and nothing stands against them; whether it is
    /// done.
    func saveNewObjects() throws(StoreError) -> Bool {
        guard let place = columnPlace,
            var rows = NewObjectRows(changed, in: self, of: place.number)
        else { return false }
        guard
            var numbers = try place.insert(
                &rows, merging: merging(of: rows), author: transactionAuthor, contextName: name)
        else { return false }
        numbers.store = place.number
        tally?.count(rows.objects.count, numbers)
        finish(&rows, numbers, in: place.identifier)
        return true
    }

    /// What the merge policy says of new objects whose key is stored, if the store can do that row by row.
    private func merging(of rows: NewObjectRows) -> NewRowMerging {
        guard mergePolicy.isBuiltIn, !mergePolicy.setOnly else { return .none }
        switch ConflictRules.objectMeetsRow(mergePolicy.mergeType, isNew: true, setOnly: false) {
        case .merge(.everything):
            // What is put together of two objects' values is to be looked at before it is stored.
            let isLooked = rows.groups.contains { looksAtMerged(schema.entities[$0.entity]) }
            return isLooked ? .none : .givesValues
        case .merge(.nothing): return .isDropped
        case .fail, .merge, .revert, .displace: return .none
        }
    }

    /// Does to the objects what the store has done.
    private func finish(_ rows: inout NewObjectRows, _ numbers: NewNumbers, in store: UUID) {
        let isPlain = rows.others.isEmpty && !rows.objects.contains { $0.rarer != nil }
        var names: [ObjectID: ObjectID] = [:]
        if !isPlain || hasTransientRelationships || !children.isEmpty {
            names.reserveCapacity(rows.objects.count)
            for (position, object) in rows.objects.enumerated() {
                names[object.objectID] = identity.id(
                    numbers.reference(at: position), entity: object.entity.index)
            }
        }
        for object in rows.objects where object.layout.pointee.hasReferences {
            permanentTargets(of: object, &rows, numbers)
        }
        var absorbed: [ObjectID: ObjectID] = [:]
        if !children.isEmpty, !numbers.versions.isEmpty {
            for (position, object) in rows.objects.enumerated() where numbers.isMerged(position) {
                absorbed[object.objectID] = names[object.objectID]
            }
        }
        let objects = rows.others.isEmpty ? rows.objects : changed.inOrder
        var saved = isWatched(.saves) ? SavedObjects() : nil
        registry.beginRenaming(rows.objects)
        if numbers.versions.isEmpty {
            registry.rename(rows.objects, numbers.numbers, of: numbers.store)
        } else {
            mergeNewObjects(rows.objects, numbers, &saved)
        }
        saved?.isWritten = true
        if let commit = numbers.commit {
            saved?.commit = commit
            saved?.commits = [store: commit]
            inbox?.disown(commit, of: store)
        }
        saved?.inserted = rows.objects.filter(\.isInserted)
        if saved != nil {
            for object in rows.others { saved?.noteUpdate(of: object, nil) }
        }
        for object in rows.objects where object.isInserted {
            object.flags.subtract([.inserted, .updated])
            object.commitSlots()
        }
        for object in rows.others { object.isUpdated = false }
        if !isPlain {
            for object in rows.objects + rows.others {
                guard let rarer = object.rarer else { continue }
                rarer.untracked = ColumnSet()
                for index in rarer.toMany.keys { rarer.toMany[index]?.commit(names) }
            }
        }
        renameTransients(names)
        if !children.isEmpty {
            tellChildren(of: names, absorbed: absorbed, unloadsMembers: !absorbed.isEmpty)
        }
        prefetched = nil
        changed.removeAll()
        revision += 1
        saves += 1
        knownRows.noteSave()
        moveGenerationOn()
        // Before anybody is called who might save: listeners get saves in their order.
        if let saved { feed(saved) }
        endEvent()
        undoHistory?.recording = .steps
        for object in objects { object.didSave() }
        if let saved { tell(.didSave(saved)) }
        if !children.isEmpty { tellChildrenOfRenames() }
    }

    /// Some new objects were merged into stored ones: they leave the context, and the stored ones are shown as they are now.
    private func mergeNewObjects(
        _ objects: [ManagedObject], _ numbers: NewNumbers, _ saved: inout SavedObjects?
    ) {
        var new: [ManagedObject] = []
        var newNumbers: [UInt32] = []
        let takesValues = mergePolicy.mergeType == .mergeByPropertyObjectTrump
        for (position, object) in objects.enumerated() {
            guard numbers.isMerged(position) else {
                new.append(object)
                newNumbers.append(numbers[position])
                continue
            }
            noteLeaving(object)
            let id = identity.id(
                numbers.reference(at: position), entity: object.entity.index)
            if takesValues, let survivor = registry.object(for: id), !survivor.isGone {
                noteRefreshed(survivor)
                saved?.updated.append(survivor)
                object.commitSlots()
                object.makeRowOfSlots()
                if let cells = object.cells {
                    let row = Row(
                        id: id, entity: survivor.entity.index,
                        version: numbers.versions[position], cells: cells)
                    if survivor.isFault { survivor.take(row) } else { survivor.rebase(on: row) }
                }
            } else if takesValues {
                saved?.updatedElsewhere.append(id)
            }
            saved?.survivors.insert(id)
            detach(object)
            object.isDeleted = true
            object.absorbedInto = id
        }
        registry.rename(new, newNumbers, of: numbers.store)
    }

    /// References to new objects lead to their permanent numbers.
    private func permanentTargets(
        of object: ManagedObject, _ rows: inout NewObjectRows, _ numbers: NewNumbers
    ) {
        guard let slots = object.ownSlots else { return }
        let scope = object.scope
        for column in 0..<scope.layout.pointee.columns
        where slots.kind(column) == .reference && slots.isSet(column) && !slots.isNil(column)
            && slots.secondWord(column) != 0
        {
            let id = scope.targetID(slots.word(column), isTemporary: true, column: column)
            if let target = registry.object(for: id), let position = rows.position(of: target) {
                slots.set(column, word: numbers.reference(at: position))
            } else {
                slots.setNil(column)
            }
        }
    }
}
