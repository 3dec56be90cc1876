// The numbers of errors, for code that compares them with an `NSError`'s.

import Foundation

/// The number of `CocoaError.Code.managedObjectValidation`.
public var NSManagedObjectValidationError: Int { CocoaError.Code.managedObjectValidation.rawValue }
/// The number of `CocoaError.Code.managedObjectConstraintValidation`.
public var NSManagedObjectConstraintValidationError: Int {
    CocoaError.Code.managedObjectConstraintValidation.rawValue
}
/// The number of `CocoaError.Code.validationMultipleErrors`.
public var NSValidationMultipleErrorsError: Int {
    CocoaError.Code.validationMultipleErrors.rawValue
}
/// The number of `CocoaError.Code.validationMissingMandatoryProperty`.
public var NSValidationMissingMandatoryPropertyError: Int {
    CocoaError.Code.validationMissingMandatoryProperty.rawValue
}
/// The number of `CocoaError.Code.validationRelationshipLacksMinimumCount`.
public var NSValidationRelationshipLacksMinimumCountError: Int {
    CocoaError.Code.validationRelationshipLacksMinimumCount.rawValue
}
/// The number of `CocoaError.Code.validationRelationshipExceedsMaximumCount`.
public var NSValidationRelationshipExceedsMaximumCountError: Int {
    CocoaError.Code.validationRelationshipExceedsMaximumCount.rawValue
}
/// The number of `CocoaError.Code.validationRelationshipDeniedDelete`.
public var NSValidationRelationshipDeniedDeleteError: Int {
    CocoaError.Code.validationRelationshipDeniedDelete.rawValue
}
/// The number of `CocoaError.Code.validationNumberTooLarge`.
public var NSValidationNumberTooLargeError: Int {
    CocoaError.Code.validationNumberTooLarge.rawValue
}
/// The number of `CocoaError.Code.validationNumberTooSmall`.
public var NSValidationNumberTooSmallError: Int {
    CocoaError.Code.validationNumberTooSmall.rawValue
}
/// The number of `CocoaError.Code.validationDateTooLate`.
public var NSValidationDateTooLateError: Int { CocoaError.Code.validationDateTooLate.rawValue }
/// The number of `CocoaError.Code.validationDateTooSoon`.
public var NSValidationDateTooSoonError: Int { CocoaError.Code.validationDateTooSoon.rawValue }
/// The number of `CocoaError.Code.validationInvalidDate`.
public var NSValidationInvalidDateError: Int { CocoaError.Code.validationInvalidDate.rawValue }
/// The number of `CocoaError.Code.validationStringTooLong`.
public var NSValidationStringTooLongError: Int { CocoaError.Code.validationStringTooLong.rawValue }
/// The number of `CocoaError.Code.validationStringTooShort`.
public var NSValidationStringTooShortError: Int {
    CocoaError.Code.validationStringTooShort.rawValue
}
/// The number of `CocoaError.Code.validationStringPatternMatching`.
public var NSValidationStringPatternMatchingError: Int {
    CocoaError.Code.validationStringPatternMatching.rawValue
}
/// The number of `CocoaError.Code.validationInvalidURI`.
public var NSValidationInvalidURIError: Int { CocoaError.Code.validationInvalidURI.rawValue }
/// The number of `CocoaError.Code.managedObjectContextLocking`.
public var NSManagedObjectContextLockingError: Int {
    CocoaError.Code.managedObjectContextLocking.rawValue
}
/// The number of `CocoaError.Code.persistentStoreCoordinatorLocking`.
public var NSPersistentStoreCoordinatorLockingError: Int {
    CocoaError.Code.persistentStoreCoordinatorLocking.rawValue
}
/// The number of `CocoaError.Code.managedObjectReferentialIntegrity`.
public var NSManagedObjectReferentialIntegrityError: Int {
    CocoaError.Code.managedObjectReferentialIntegrity.rawValue
}
/// The number of `CocoaError.Code.managedObjectExternalRelationship`.
public var NSManagedObjectExternalRelationshipError: Int {
    CocoaError.Code.managedObjectExternalRelationship.rawValue
}
/// The number of `CocoaError.Code.managedObjectMerge`.
public var NSManagedObjectMergeError: Int { CocoaError.Code.managedObjectMerge.rawValue }
/// The number of `CocoaError.Code.managedObjectConstraintMerge`.
public var NSManagedObjectConstraintMergeError: Int {
    CocoaError.Code.managedObjectConstraintMerge.rawValue
}
/// The number of `CocoaError.Code.persistentStoreInvalidType`.
public var NSPersistentStoreInvalidTypeError: Int {
    CocoaError.Code.persistentStoreInvalidType.rawValue
}
/// The number of `CocoaError.Code.persistentStoreTypeMismatch`.
public var NSPersistentStoreTypeMismatchError: Int {
    CocoaError.Code.persistentStoreTypeMismatch.rawValue
}
/// The number of `CocoaError.Code.persistentStoreIncompatibleSchema`.
public var NSPersistentStoreIncompatibleSchemaError: Int {
    CocoaError.Code.persistentStoreIncompatibleSchema.rawValue
}
/// The number of `CocoaError.Code.persistentStoreSave`.
public var NSPersistentStoreSaveError: Int { CocoaError.Code.persistentStoreSave.rawValue }
/// The number of `CocoaError.Code.persistentStoreIncompleteSave`.
public var NSPersistentStoreIncompleteSaveError: Int {
    CocoaError.Code.persistentStoreIncompleteSave.rawValue
}
/// The number of `CocoaError.Code.persistentStoreSaveConflicts`.
public var NSPersistentStoreSaveConflictsError: Int {
    CocoaError.Code.persistentStoreSaveConflicts.rawValue
}
/// The number of `CocoaError.Code.coreData`.
public var NSCoreDataError: Int { CocoaError.Code.coreData.rawValue }
/// The number of `CocoaError.Code.persistentStoreOperation`.
public var NSPersistentStoreOperationError: Int {
    CocoaError.Code.persistentStoreOperation.rawValue
}
/// The number of `CocoaError.Code.persistentStoreOpen`.
public var NSPersistentStoreOpenError: Int { CocoaError.Code.persistentStoreOpen.rawValue }
/// The number of `CocoaError.Code.persistentStoreTimeout`.
public var NSPersistentStoreTimeoutError: Int { CocoaError.Code.persistentStoreTimeout.rawValue }
/// The number of `CocoaError.Code.persistentStoreUnsupportedRequestType`.
public var NSPersistentStoreUnsupportedRequestTypeError: Int {
    CocoaError.Code.persistentStoreUnsupportedRequestType.rawValue
}
/// The number of `CocoaError.Code.persistentStoreIncompatibleVersionHash`.
public var NSPersistentStoreIncompatibleVersionHashError: Int {
    CocoaError.Code.persistentStoreIncompatibleVersionHash.rawValue
}
/// The number of `CocoaError.Code.migration`.
public var NSMigrationError: Int { CocoaError.Code.migration.rawValue }
/// The number of `CocoaError.Code.migrationConstraintViolation`.
public var NSMigrationConstraintViolationError: Int {
    CocoaError.Code.migrationConstraintViolation.rawValue
}
/// The number of `CocoaError.Code.migrationCancelled`.
public var NSMigrationCancelledError: Int { CocoaError.Code.migrationCancelled.rawValue }
/// The number of `CocoaError.Code.migrationMissingSourceModel`.
public var NSMigrationMissingSourceModelError: Int {
    CocoaError.Code.migrationMissingSourceModel.rawValue
}
/// The number of `CocoaError.Code.migrationMissingMappingModel`.
public var NSMigrationMissingMappingModelError: Int {
    CocoaError.Code.migrationMissingMappingModel.rawValue
}
/// The number of `CocoaError.Code.migrationManagerSourceStore`.
public var NSMigrationManagerSourceStoreError: Int {
    CocoaError.Code.migrationManagerSourceStore.rawValue
}
/// The number of `CocoaError.Code.migrationManagerDestinationStore`.
public var NSMigrationManagerDestinationStoreError: Int {
    CocoaError.Code.migrationManagerDestinationStore.rawValue
}
/// The number of `CocoaError.Code.entityMigrationPolicy`.
public var NSEntityMigrationPolicyError: Int { CocoaError.Code.entityMigrationPolicy.rawValue }
/// The number of `CocoaError.Code.sqlite`.
public var NSSQLiteError: Int { CocoaError.Code.sqlite.rawValue }
/// The number of `CocoaError.Code.inferredMappingModel`.
public var NSInferredMappingModelError: Int { CocoaError.Code.inferredMappingModel.rawValue }
/// The number of `CocoaError.Code.externalRecordImport`.
public var NSExternalRecordImportError: Int { CocoaError.Code.externalRecordImport.rawValue }
/// The number of `CocoaError.Code.persistentHistoryTokenExpired`.
public var NSPersistentHistoryTokenExpiredError: Int {
    CocoaError.Code.persistentHistoryTokenExpired.rawValue
}
/// The model that a reference leads to cannot be found.
public let NSManagedObjectModelReferenceNotFoundError = 134_504
/// A store has to be written by a newer framework before it can be migrated in stages. Nothing here says so.
public let NSStagedMigrationFrameworkVersionMismatchError = 134_505
/// A migration in stages would lead to an earlier version of the model. Nothing here says so.
public let NSStagedMigrationBackwardMigrationError = 134_506
