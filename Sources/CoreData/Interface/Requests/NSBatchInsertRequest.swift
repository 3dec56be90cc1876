// Batch inserts with Core Data's names.

import CairnModel
import CairnObjects
import CairnStore
public import Foundation

/// Inserts many rows, or updates the objects that uniqueness constraints identify, as the context's merge policy says, without
/// making objects.
///
/// Rows may also say relationships: the values of these are objects, their ids or values of a unique key; of to-many ones lists.
open class NSBatchInsertRequest: NSPersistentStoreRequest {
    /// The entity's name.
    public let entityName: String
    /// The entity, if it was given.
    public let entity: NSEntityDescription?
    /// The rows; nil if a closure gives them.
    open var objectsToInsert: [[String: Any]]?
    /// Fills a row, and says true when there was none left to fill.
    open var dictionaryHandler: ((NSMutableDictionary) -> Bool)?
    /// Sets a row's values on an object, and says true when there was none left. The object must not be kept.
    open var managedObjectHandler: ((NSManagedObject) -> Bool)?
    /// What the result has.
    open var resultType = NSBatchInsertRequestResultType.statusOnly

    /// Inserts rows into an entity.
    public init(entityName: String, objects dictionaries: [[String: Any]]) {
        self.entityName = entityName
        entity = nil
        objectsToInsert = dictionaries
    }

    /// Inserts rows into an entity.
    public init(entity: NSEntityDescription, objects dictionaries: [[String: Any]]) {
        entityName = entity.name ?? ""
        self.entity = entity
        objectsToInsert = dictionaries
    }

    /// Inserts the rows that a closure fills, until it says true.
    public convenience init(
        entityName: String, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
    ) {
        self.init(entityName: entityName, objects: [])
        objectsToInsert = nil
        dictionaryHandler = handler
    }

    /// Inserts the rows that a closure fills, until it says true.
    public convenience init(
        entity: NSEntityDescription,
        dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
    ) {
        self.init(entity: entity, objects: [])
        objectsToInsert = nil
        dictionaryHandler = handler
    }

    /// Inserts the rows that a closure sets on objects, until it says true.
    public convenience init(
        entityName: String, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool
    ) {
        self.init(entityName: entityName, objects: [])
        objectsToInsert = nil
        managedObjectHandler = handler
    }

    /// Inserts the rows that a closure sets on objects, until it says true.
    public convenience init(
        entity: NSEntityDescription,
        managedObjectHandler handler: @escaping (NSManagedObject) -> Bool
    ) {
        self.init(entity: entity, objects: [])
        objectsToInsert = nil
        managedObjectHandler = handler
    }

    open override var requestType: NSPersistentStoreRequestType { .batchInsertRequestType }

    override func carryOut(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        var request: BatchInsertRequest
        if let handler = managedObjectHandler.map(Handed.init) {
            request = BatchInsertRequest(entityName: entityName) { (object: ManagedObject) in
                handler.value(NSManagedObjectContext.object(object))
            }
        } else if let handler = dictionaryHandler.map(Handed.init) {
            request = BatchInsertRequest(entityName: entityName) { (row: inout [String: Any]) in
                let dictionary = NSMutableDictionary()
                if handler.value(dictionary) { return true }
                for (key, value) in dictionary {
                    if let key = key as? String { row[key] = value }
                }
                return false
            }
        } else {
            request = BatchInsertRequest(entityName: entityName, objects: objectsToInsert ?? [])
        }
        request.affectedStores = affectedIdentifiers
        if resultType == .objectIDs { request.resultType = .objectIDs }
        let result = try context.core.execute(request)
        return NSBatchInsertResult(
            resultType,
            BatchAnswer(
                // A row that says what is stored counts as well, as in Core Data.
                count: result.insertedCount + result.updatedCount + result.unchangedCount,
                ids: result.objectIDs
            ).result(resultType.rawValue, in: context))
    }
}

/// What the result of a batch insert has.
public enum NSBatchInsertRequestResultType: UInt, Sendable {
    /// Whether it has succeeded.
    case statusOnly = 0
    /// The ids of the objects that were inserted or updated.
    case objectIDs = 1
    /// How many rows there were.
    case count = 2
}

/// What has come of a batch insert.
open class NSBatchInsertResult: NSPersistentStoreResult {
    /// Whether it has succeeded, ids, or a number, as ``resultType`` says.
    public let result: Any?
    /// What the result has.
    public let resultType: NSBatchInsertRequestResultType

    init(_ type: NSBatchInsertRequestResultType, _ result: Any?) {
        self.result = result
        resultType = type
    }
}

/// What a batch has done.
struct BatchAnswer {
    let count: Int
    let ids: [ObjectID]

    /// As a result of one of Core Data's three types, which have the same numbers for each batch.
    func result(_ type: UInt, in context: NSManagedObjectContext) -> Any {
        switch type {
        case 1:
            let coordinator = context.persistentStoreCoordinator
            return ids.map { NSManagedObjectID($0, entity: nil, in: coordinator) }
        case 2: return NSNumber(value: count)
        default: return NSNumber(value: true)
        }
    }
}
