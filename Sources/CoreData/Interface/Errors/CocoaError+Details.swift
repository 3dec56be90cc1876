// What errors say beside their code.

public import Foundation

extension CocoaError {
    /// The objects that could not be saved or read.
    public var affectedObjects: [Any]? { detail(NSAffectedObjectsErrorKey) }
    /// The stores that could not be written.
    public var affectedStores: [Any]? { detail(NSAffectedStoresErrorKey) }
    /// The conflicts of a save.
    public var persistentStoreSaveConflicts: [Any]? {
        detail(NSPersistentStoreSaveConflictsErrorKey)
    }
    /// The object that is not valid.
    public var validationObject: Any? { detail(NSValidationObjectErrorKey) }
    /// The property that is not valid.
    public var validationKey: String? { detail(NSValidationKeyErrorKey) }
    /// The condition of the model that a value does not meet.
    public var validationPredicate: NSPredicate? { detail(NSValidationPredicateErrorKey) }
    /// The value that is not valid.
    public var validationValue: Any? { detail(NSValidationValueErrorKey) }

    private func detail<Detail>(_ key: String) -> Detail? { userInfo[key] as? Detail }
}
