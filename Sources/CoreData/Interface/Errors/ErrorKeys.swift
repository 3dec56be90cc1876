// What the dictionary of an error has, by which keys.

import CairnStore
import Foundation

/// The single errors of ``NSValidationMultipleErrorsError``, as an array of `NSError`.
public let NSDetailedErrorsKey = "NSDetailedErrors"
/// The object that is not valid.
public let NSValidationObjectErrorKey = "NSValidationErrorObject"
/// The name of the property that is not valid.
public let NSValidationKeyErrorKey = "NSValidationErrorKey"
/// The predicate that a value does not satisfy.
public let NSValidationPredicateErrorKey = "NSValidationErrorPredicate"
/// The value that is not valid.
public let NSValidationValueErrorKey = "NSValidationErrorValue"
/// The stores that an error is about.
public let NSAffectedStoresErrorKey = "NSAffectedStoresErrorKey"
/// The objects that an error is about.
public let NSAffectedObjectsErrorKey = "NSAffectedObjectsErrorKey"
/// The conflicts of a save: an array of ``NSMergeConflict`` or ``NSConstraintConflict``.
public let NSPersistentStoreSaveConflictsErrorKey = "conflictList"
/// The domain of SQLite's errors, of which there are none here.
public let NSSQLiteErrorDomain = "NSSQLiteErrorDomain"
