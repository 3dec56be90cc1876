// The details of an error: objects, keys, values and conflicts, to correct it, and all of it as text, to find the cause.
//
// Core Data gives these as a dictionary; its keys are those of `userInfo` here.

public import CairnModel

extension StoreError {
    /// The objects that the error is about, without duplicates: that of its context, those of its conflicts, and those of
    /// ``details``, in this order.
    public var affectedObjectIDs: [ObjectID] {
        var ids: [ObjectID] = []
        var seen: Set<ObjectID> = []
        func add(_ id: ObjectID?) {
            if let id, seen.insert(id).inserted { ids.append(id) }
        }
        add(context.objectID)
        for conflict in conflicts {
            switch conflict {
            case .version(let conflict): add(conflict.id)
            case .constraint(let violation):
                add(violation.stored?.id)
                for id in violation.objects { add(id) }
            }
        }
        for error in details { for id in error.affectedObjectIDs { add(id) } }
        return ids
    }

    /// The conflicting new objects of the save. An object that obtained its permanent id before the save counts as stored.
    public var insertedObjectIDs: [ObjectID] { conflictIDs { $0.isTemporary } }

    /// The conflicting stored objects that the save was to change.
    public var updatedObjectIDs: [ObjectID] { conflictIDs { !$0.isTemporary } }

    /// The conflicting objects that the save was to delete.
    public var deletedObjectIDs: [ObjectID] {
        conflicts.compactMap {
            if case .version(let conflict) = $0, conflict.isDeletion { conflict.id } else { nil }
        }
    }

    private func conflictIDs(_ isWanted: (ObjectID) -> Bool) -> [ObjectID] {
        var seen: Set<ObjectID> = []
        return conflicts.flatMap { conflict -> [ObjectID] in
            switch conflict {
            case .version(let conflict): conflict.isDeletion ? [] : [conflict.id]
            case .constraint(let violation): violation.objects
            }
        }.filter { isWanted($0) && seen.insert($0).inserted }
    }

    // MARK: As a dictionary

    /// The domain in which Core Data defines the ``Code``s.
    public static let errorDomain = "NSCocoaErrorDomain"

    /// The error's details under Core Data's keys. Objects are represented by their ids.
    ///
    /// | key | value |
    /// | --- | --- |
    /// | `NSLocalizedDescription` | ``message`` |
    /// | `NSValidationErrorObject` | `ObjectID` |
    /// | `NSValidationErrorKey` | the property's name |
    /// | `NSValidationErrorPredicate` | `PredicateNode` |
    /// | `NSValidationErrorValue` | ``Value`` |
    /// | `NSDetailedErrors` | `[StoreError]` |
    /// | `NSAffectedObjectsErrorKey` | `[ObjectID]` |
    /// | `NSAffectedStoresErrorKey` | `[UUID]` |
    /// | `conflictList` | `[SaveConflict]` |
    /// | `inserted`, `updated`, `deleted` | `[ObjectID]` of conflicts |
    /// | `NSFilePath` | the store's folder, or the file in it |
    /// | `NSUnderlyingError` | ``cause`` |
    public var userInfo: [String: any Sendable] {
        var info: [String: any Sendable] = ["NSLocalizedDescription": message]
        func add<T: Collection & Sendable>(_ key: String, _ list: T) {
            if !list.isEmpty { info[key] = list }
        }
        if let id = context.objectID { info["NSValidationErrorObject"] = id }
        if let key = context.key { info["NSValidationErrorKey"] = key }
        if let predicate = context.predicate { info["NSValidationErrorPredicate"] = predicate }
        if let value = context.value { info["NSValidationErrorValue"] = value }
        if let path = context.path { info["NSFilePath"] = path }
        if let cause { info["NSUnderlyingError"] = cause }
        add("NSDetailedErrors", details)
        add("NSAffectedObjectsErrorKey", affectedObjectIDs)
        add("NSAffectedStoresErrorKey", affectedStores)
        add("conflictList", conflicts)
        add("inserted", insertedObjectIDs)
        add("updated", updatedObjectIDs)
        add("deleted", deletedObjectIDs)
        return info
    }

    // MARK: As text

    /// Everything known about the error, including values of objects. Do not write it to logs that others read.
    ///
    /// The first line is the first line of ``description``, followed by the details, one per line.
    public var fullDescription: String { lines.joined(separator: "\n") }

    private var lines: [String] {
        var lines = [headline]
        func add(_ name: String, _ text: String?) {
            if let text { lines.append("  \(name): \(text)") }
        }
        add("object", context.objectID.map { "\($0)" })
        add("value", context.value.map { "\($0)" })
        add("predicate", context.predicate.map { "\($0)" })
        add("detail", context.detail)
        for conflict in conflicts { lines.append("  \(conflict.text(withValues: true))") }
        if let cause {
            add("cause", (cause as? StoreError)?.fullDescription ?? "\(cause)")
        }
        for error in details { lines += error.lines.map { "  \($0)" } }
        return lines
    }
}

extension SaveConflict {
    /// Who is in conflict over what, in one line.
    ///
    /// - Parameter withValues: whether the values that are not unique stand in it, which no log should have.
    package func text(withValues: Bool) -> String {
        switch self {
        case .version(let conflict):
            let read = conflict.base.map { "\($0.version)" } ?? "none"
            let stored = conflict.stored.map { "\($0.version)" } ?? "none"
            let what = conflict.isDeletion ? "should be deleted" : "should be changed"
            return "\(conflict.entityName) \(conflict.id) \(what): "
                + "read at version \(read), now stored at version \(stored)"
        case .constraint(let violation):
            let key =
                withValues
                ? zip(violation.constraint, violation.values)
                    .map { "\($0) = \($1)" }
                : violation.constraint
            let objects = violation.objects.map { "\($0)" }.joined(separator: ", ")
            let stored = violation.stored.map { "; stored as \($0.id)" } ?? ""
            let remarks = violation.options?.remarks ?? []
            let options = remarks.isEmpty ? "" : " (\(remarks.joined(separator: ", ")))"
            let what = "\(violation.entityName), \(key.joined(separator: ", "))\(options)"
            return "\(what): \(objects)\(stored)"
        }
    }
}
