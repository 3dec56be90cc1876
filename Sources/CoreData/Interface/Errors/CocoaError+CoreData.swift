// The kinds of error that Core Data has, as codes of Foundation's errors.
//
// Where Cairn has the kind, its number is taken from there.

import CairnObjects
import CairnStore
public import Foundation

extension CocoaError.Code {
    private init(_ code: StoreError.Code) { self.init(rawValue: code.rawValue) }

    /// A value is refused, by a predicate of the model or by the object's own validation.
    public static var managedObjectValidation: Self { Self(.validation) }
    /// A validation has found that a value is not unique.
    public static var managedObjectConstraintValidation: Self {
        Self(.constraintValidation)
    }
    /// Several errors; see ``NSDetailedErrorsKey``.
    public static var validationMultipleErrors: Self { Self(.multiple) }
    /// A mandatory property is nil.
    public static var validationMissingMandatoryProperty: Self {
        Self(.missingMandatory)
    }
    /// A relationship has too few members.
    public static var validationRelationshipLacksMinimumCount: Self {
        Self(.tooFewMembers)
    }
    /// A relationship has too many members.
    public static var validationRelationshipExceedsMaximumCount: Self {
        Self(.tooManyMembers)
    }
    /// A delete rule forbids the deletion.
    public static var validationRelationshipDeniedDelete: Self {
        Self(.deleteDenied)
    }
    /// A number is greater than the model allows.
    public static var validationNumberTooLarge: Self { Self(.numberTooLarge) }
    /// A number is less than the model allows.
    public static var validationNumberTooSmall: Self { Self(.numberTooSmall) }
    /// A date is later than the model allows.
    public static var validationDateTooLate: Self { Self(.dateTooLate) }
    /// A date is earlier than the model allows.
    public static var validationDateTooSoon: Self { Self(.dateTooEarly) }
    /// A date is no moment at all.
    public static var validationInvalidDate: Self { Self(.invalidDate) }
    /// A string is longer than the model allows.
    public static var validationStringTooLong: Self { Self(.stringTooLong) }
    /// A string is shorter than the model allows.
    public static var validationStringTooShort: Self { Self(.stringTooShort) }
    /// A string does not match the model's pattern.
    public static var validationStringPatternMatching: Self { Self(.stringPattern) }
    /// What is to be a URI is none.
    public static var validationInvalidURI: Self { Self(.invalidURI) }
    /// A context could not be locked. Nothing here says so.
    public static var managedObjectContextLocking: Self { Self(rawValue: 132_000) }
    /// A coordinator could not be locked. Nothing here says so.
    public static var persistentStoreCoordinatorLocking: Self { Self(rawValue: 132_010) }
    /// The object is not in the store.
    public static var managedObjectReferentialIntegrity: Self {
        Self(.objectNotFound)
    }
    /// A relationship leads into another store.
    public static var managedObjectExternalRelationship: Self {
        Self(.foreignObject)
    }
    /// Somebody else has changed the object meanwhile.
    public static var managedObjectMerge: Self { Self(.mergeConflict) }
    /// A uniqueness constraint is violated.
    public static var managedObjectConstraintMerge: Self {
        Self(.constraintConflict)
    }
    /// There is no store of the type.
    public static var persistentStoreInvalidType: Self { Self(rawValue: 134_000) }
    /// What is stored is of another type than was said.
    public static var persistentStoreTypeMismatch: Self { Self(rawValue: 134_010) }
    /// The store cannot have objects of the model.
    public static var persistentStoreIncompatibleSchema: Self { Self(rawValue: 134_020) }
    /// The store cannot be written.
    public static var persistentStoreSave: Self { Self(.readOnly) }
    /// Some of the stores were written, others not.
    public static var persistentStoreIncompleteSave: Self { Self(.incompleteSave) }
    /// A save met conflicts that nobody has resolved.
    public static var persistentStoreSaveConflicts: Self { Self(.saveConflicts) }
    /// A request that cannot be carried out, or a model that is not valid.
    public static var coreData: Self { Self(.invalidRequest) }
    /// Reading or writing failed in the operating system.
    public static var persistentStoreOperation: Self { Self(.inputOutput) }
    /// The store cannot be opened.
    public static var persistentStoreOpen: Self { Self(.openFailed) }
    /// Another process writes to the store.
    public static var persistentStoreTimeout: Self { Self(.storeInUse) }
    /// The store does not know requests of the type.
    public static var persistentStoreUnsupportedRequestType: Self { Self(rawValue: 134_091) }
    /// The store was made with another model.
    public static var persistentStoreIncompatibleVersionHash: Self {
        Self(.incompatibleModel)
    }
    /// A migration failed; the store is as it was.
    public static var migration: Self { Self(.migrationFailed) }
    /// Objects would violate a uniqueness constraint of the new model.
    public static var migrationConstraintViolation: Self {
        Self(.migrationConstraintViolation)
    }
    /// The migration was cancelled.
    public static var migrationCancelled: Self { Self(.migrationCancelled) }
    /// No model is the one that the store was made with.
    public static var migrationMissingSourceModel: Self { Self(.missingSourceModel) }
    /// There is no mapping model for the two models.
    public static var migrationMissingMappingModel: Self { Self(.missingMappingModel) }
    /// The store to migrate from cannot be read.
    public static var migrationManagerSourceStore: Self { Self(rawValue: 134_150) }
    /// The store to migrate to cannot be written.
    public static var migrationManagerDestinationStore: Self { Self(rawValue: 134_160) }
    /// A migration policy failed.
    public static var entityMigrationPolicy: Self { Self(rawValue: 134_170) }
    /// SQLite failed. Nothing here says so.
    public static var sqlite: Self { Self(rawValue: 134_180) }
    /// No mapping can be inferred between the two models.
    public static var inferredMappingModel: Self { Self(.cannotInferMapping) }
    /// Records for Spotlight could not be imported. Nothing here says so.
    public static var externalRecordImport: Self { Self(rawValue: 134_200) }
    /// The history behind a token was deleted.
    public static var persistentHistoryTokenExpired: Self {
        Self(.historyTokenExpired)
    }
}

extension CocoaError {
    /// A value is refused, by a predicate of the model or by the object's own validation.
    public static var managedObjectValidation: Code { .managedObjectValidation }
    /// A validation has found that a value is not unique.
    public static var managedObjectConstraintValidation: Code { .managedObjectConstraintValidation }
    /// Several errors; see ``NSDetailedErrorsKey``.
    public static var validationMultipleErrors: Code { .validationMultipleErrors }
    /// A mandatory property is nil.
    public static var validationMissingMandatoryProperty: Code {
        .validationMissingMandatoryProperty
    }
    /// A relationship has too few members.
    public static var validationRelationshipLacksMinimumCount: Code {
        .validationRelationshipLacksMinimumCount
    }
    /// A relationship has too many members.
    public static var validationRelationshipExceedsMaximumCount: Code {
        .validationRelationshipExceedsMaximumCount
    }
    /// A delete rule forbids the deletion.
    public static var validationRelationshipDeniedDelete: Code {
        .validationRelationshipDeniedDelete
    }
    /// A number is greater than the model allows.
    public static var validationNumberTooLarge: Code { .validationNumberTooLarge }
    /// A number is less than the model allows.
    public static var validationNumberTooSmall: Code { .validationNumberTooSmall }
    /// A date is later than the model allows.
    public static var validationDateTooLate: Code { .validationDateTooLate }
    /// A date is earlier than the model allows.
    public static var validationDateTooSoon: Code { .validationDateTooSoon }
    /// A date is no moment at all.
    public static var validationInvalidDate: Code { .validationInvalidDate }
    /// A string is longer than the model allows.
    public static var validationStringTooLong: Code { .validationStringTooLong }
    /// A string is shorter than the model allows.
    public static var validationStringTooShort: Code { .validationStringTooShort }
    /// A string does not match the model's pattern.
    public static var validationStringPatternMatching: Code { .validationStringPatternMatching }
    /// What is to be a URI is none.
    public static var validationInvalidURI: Code { .validationInvalidURI }
    /// A context could not be locked. Nothing here says so.
    public static var managedObjectContextLocking: Code { .managedObjectContextLocking }
    /// A coordinator could not be locked. Nothing here says so.
    public static var persistentStoreCoordinatorLocking: Code { .persistentStoreCoordinatorLocking }
    /// The object is not in the store.
    public static var managedObjectReferentialIntegrity: Code { .managedObjectReferentialIntegrity }
    /// A relationship leads into another store.
    public static var managedObjectExternalRelationship: Code { .managedObjectExternalRelationship }
    /// Somebody else has changed the object meanwhile.
    public static var managedObjectMerge: Code { .managedObjectMerge }
    /// A uniqueness constraint is violated.
    public static var managedObjectConstraintMerge: Code { .managedObjectConstraintMerge }
    /// There is no store of the type.
    public static var persistentStoreInvalidType: Code { .persistentStoreInvalidType }
    /// What is stored is of another type than was said.
    public static var persistentStoreTypeMismatch: Code { .persistentStoreTypeMismatch }
    /// The store cannot have objects of the model.
    public static var persistentStoreIncompatibleSchema: Code { .persistentStoreIncompatibleSchema }
    /// The store cannot be written.
    public static var persistentStoreSave: Code { .persistentStoreSave }
    /// Some of the stores were written, others not.
    public static var persistentStoreIncompleteSave: Code { .persistentStoreIncompleteSave }
    /// A save met conflicts that nobody has resolved.
    public static var persistentStoreSaveConflicts: Code { .persistentStoreSaveConflicts }
    /// A request that cannot be carried out, or a model that is not valid.
    public static var coreData: Code { .coreData }
    /// Reading or writing failed in the operating system.
    public static var persistentStoreOperation: Code { .persistentStoreOperation }
    /// The store cannot be opened.
    public static var persistentStoreOpen: Code { .persistentStoreOpen }
    /// Another process writes to the store.
    public static var persistentStoreTimeout: Code { .persistentStoreTimeout }
    /// The store does not know requests of the type.
    public static var persistentStoreUnsupportedRequestType: Code {
        .persistentStoreUnsupportedRequestType
    }
    /// The store was made with another model.
    public static var persistentStoreIncompatibleVersionHash: Code {
        .persistentStoreIncompatibleVersionHash
    }
    /// A migration failed; the store is as it was.
    public static var migration: Code { .migration }
    /// Objects would violate a uniqueness constraint of the new model.
    public static var migrationConstraintViolation: Code { .migrationConstraintViolation }
    /// The migration was cancelled.
    public static var migrationCancelled: Code { .migrationCancelled }
    /// No model is the one that the store was made with.
    public static var migrationMissingSourceModel: Code { .migrationMissingSourceModel }
    /// There is no mapping model for the two models.
    public static var migrationMissingMappingModel: Code { .migrationMissingMappingModel }
    /// The store to migrate from cannot be read.
    public static var migrationManagerSourceStore: Code { .migrationManagerSourceStore }
    /// The store to migrate to cannot be written.
    public static var migrationManagerDestinationStore: Code { .migrationManagerDestinationStore }
    /// A migration policy failed.
    public static var entityMigrationPolicy: Code { .entityMigrationPolicy }
    /// SQLite failed. Nothing here says so.
    public static var sqlite: Code { .sqlite }
    /// No mapping can be inferred between the two models.
    public static var inferredMappingModel: Code { .inferredMappingModel }
    /// Records for Spotlight could not be imported. Nothing here says so.
    public static var externalRecordImport: Code { .externalRecordImport }
    /// The history behind a token was deleted.
    public static var persistentHistoryTokenExpired: Code { .persistentHistoryTokenExpired }
}
