// Batch updates with Core Data's names.

import CairnModel
import CairnObjects
import CairnStore
public import Foundation

/// Gives all objects of an entity that a condition finds new values, without making objects.
open class NSBatchUpdateRequest: NSPersistentStoreRequest {
    /// The entity's name.
    public let entityName: String
    private let given: NSEntityDescription?
    /// Which objects; nil means all.
    open var predicate: NSPredicate?
    /// Whether objects of the entity's descendants are updated as well.
    open var includesSubentities = true
    /// The new values, by names of properties or by their descriptions: values, objects and their ids, `NSNull`, and
    /// `NSExpression`s of what each object had before.
    open var propertiesToUpdate: [AnyHashable: Any]?
    /// What the result has.
    open var resultType = NSBatchUpdateRequestResultType.statusOnlyResultType

    /// Updates objects of an entity.
    public init(entityName: String) {
        self.entityName = entityName
        given = nil
    }

    /// Updates objects of an entity.
    public init(entity: NSEntityDescription) {
        entityName = entity.name ?? ""
        given = entity
    }

    /// The entity. A request that was made with a name has none.
    public var entity: NSEntityDescription {
        guard let given else {
            fatalError("the batch update of \(entityName) was made with a name, not with an entity")
        }
        return given
    }

    open override var requestType: NSPersistentStoreRequestType { .batchUpdateRequestType }

    override func carryOut(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        var request = BatchUpdateRequest(
            entityName: entityName, propertiesToUpdate: try updatedValues(),
            predicate: try predicate?.node(for: entityName, in: context))
        request.includesSubentities = includesSubentities
        request.affectedStores = affectedIdentifiers
        if resultType == .updatedObjectIDsResultType { request.resultType = .objectIDs }
        let result = try context.core.execute(request)
        return NSBatchUpdateResult(
            resultType,
            BatchAnswer(
                // An object that has the values already counts as well, as in Core Data.
                count: result.updatedCount + result.unchangedCount, ids: result.objectIDs
            ).result(resultType.rawValue, in: context))
    }

    private func updatedValues() throws(StoreError) -> [String: UpdatedValue] {
        var values: [String: UpdatedValue] = [:]
        for (key, any) in propertiesToUpdate ?? [:] {
            guard let name = Self.name(of: key.base) else {
                throw StoreError(
                    .invalidRequest,
                    "\(key.base) is neither the name of a property nor the description of one",
                    context: .init(entity: entityName))
            }
            if let expression = any as? NSExpression {
                let node = try expression.node
                if case .constant(let value) = node {
                    values[name] = .value(value)
                } else {
                    values[name] = .expression(node)
                }
            } else if let value = Value(any: any) {
                values[name] = .value(value)
            } else {
                throw StoreError(
                    .invalidRequest, "a batch update cannot set a value of type \(type(of: any))",
                    context: .init(entity: entityName, key: name))
            }
        }
        return values
    }

    private static func name(of key: Any) -> String? {
        key as? String ?? (key as? NSPropertyDescription)?.name
    }
}

/// What the result of a batch update has.
public enum NSBatchUpdateRequestResultType: UInt, Sendable {
    /// Whether it has succeeded.
    case statusOnlyResultType = 0
    /// The ids of the objects that have changed.
    case updatedObjectIDsResultType = 1
    /// How many objects the condition has found.
    case updatedObjectsCountResultType = 2
}

/// What has come of a batch update.
open class NSBatchUpdateResult: NSPersistentStoreResult {
    /// Whether it has succeeded, ids, or a number, as ``resultType`` says.
    public let result: Any?
    /// What the result has.
    public let resultType: NSBatchUpdateRequestResultType

    init(_ type: NSBatchUpdateRequestResultType, _ result: Any?) {
        self.result = result
        resultType = type
    }
}
