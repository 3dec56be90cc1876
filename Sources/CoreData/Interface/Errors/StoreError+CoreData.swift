// Errors as Core Data's callers know them: an `NSError` with Core Data's number, and objects, ids and conflicts of this module under
// Core Data's keys.
//
// Numbers and keys are those that `StoreError` has already; only what stands under the keys is of other types here.

import CairnModel
import CairnObjects
import CairnStore
import Foundation

/// Runs something whose errors are the program's to see, with the codes and keys of Core Data.
///
/// What the program's own code has thrown in the middle of it, as a validation of a class, comes out as it is.
///
/// - Parameter context: whose objects an error is about.
func withCoreDataErrors<R>(
    in context: NSManagedObjectContext? = nil, _ body: () throws -> R
) throws -> R {
    do { return try body() } catch { throw coreDataError(error, in: context) }
}

/// An error of Cairn's as Core Data would give it; any other as it is.
func coreDataError(_ error: any Error, in context: NSManagedObjectContext?) -> any Error {
    switch error {
    case let error as StoreError: error.coreDataError(in: context)
    case is ModelError, is PredicateFormatError, is ValidationFailure:
        NSError(
            domain: StoreError.errorDomain, code: NSCoreDataError,
            userInfo: [NSLocalizedDescriptionKey: "\(error)"])
    default: error
    }
}

extension StoreError {
    fileprivate func coreDataError(in context: NSManagedObjectContext?) -> any Error {
        if let thrownByObject { return thrownByObject }
        return NSError(
            domain: Self.errorDomain, code: code.rawValue, userInfo: coreDataInfo(in: context))
    }

    private func coreDataInfo(in context: NSManagedObjectContext?) -> [String: Any] {
        var info: [String: Any] = userInfo
        func replace<T>(_ key: String, _ new: (T) -> Any?) {
            guard let old = info[key] as? T else { return }
            info[key] = new(old)
        }
        replace(NSDetailedErrorsKey) { (errors: [StoreError]) in
            errors.map { $0.coreDataError(in: context) as NSError }
        }
        replace(NSValidationValueErrorKey) { (value: Value) in
            (value.any as? ObjectID).flatMap { context?.facadeID($0) } ?? value.any
        }
        replace(NSValidationPredicateErrorKey) { (node: PredicateNode) in
            NSPredicate.predicate(for: node)
        }
        replace(NSUnderlyingErrorKey) { (cause: any Error) in
            CoreData.coreDataError(cause, in: context)
        }
        guard let context else { return info }
        replace(NSValidationObjectErrorKey) { (id: ObjectID) in context.facadeObject(id) }
        for key in [
            NSAffectedObjectsErrorKey, NSInsertedObjectsKey, NSUpdatedObjectsKey,
            NSDeletedObjectsKey,
        ] {
            replace(key) { (ids: [ObjectID]) in ids.compactMap(context.facadeObject) }
        }
        replace(NSAffectedStoresErrorKey) { (identifiers: [UUID]) in
            context.persistentStoreCoordinator?.persistentStores.filter {
                identifiers.contains($0.core.identity.identifier)
            }
        }
        replace(NSPersistentStoreSaveConflictsErrorKey) { (_: [SaveConflict]) in
            context.core.conflicts(in: self).compactMap { facadeConflict($0, in: context) }
        }
        return info
    }
}
