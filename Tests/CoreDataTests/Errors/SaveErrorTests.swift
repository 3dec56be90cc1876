// What a save that fails throws, as code that catches it knows it.

import CoreData
import Testing

@Suite("Errors of saves")
struct SaveErrorTests {
    let shelf: Shelf
    let context: NSManagedObjectContext

    init() throws {
        shelf = try Shelf()
        context = shelf.context()
    }

    /// The error of something that fails.
    private func failure(_ body: () throws -> Void) throws -> any Error {
        do { try body() } catch { return error }
        Issue.record("nothing was thrown")
        throw CancellationError()
    }

    @Test("A missing value is an NSError with object and key, and a CocoaError")
    func missing() throws {
        try context.performAndWait {
            let author = shelf.author(nil, in: context)
            let error = try failure { try context.save() }
            let plain = error as NSError
            #expect(plain.domain == NSCocoaErrorDomain)
            #expect(plain.code == NSValidationMissingMandatoryPropertyError)
            #expect(plain.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === author)
            #expect(plain.userInfo[NSValidationKeyErrorKey] as? String == "name")
            #expect(plain.userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObject] == [author])
            #expect(!plain.localizedDescription.isEmpty)
            let cocoa = try #require(error as? CocoaError)
            #expect(cocoa.code == .validationMissingMandatoryProperty && cocoa.isValidationError)
            do { throw error } catch CocoaError.validationMissingMandatoryProperty {} catch {
                Issue.record("\(error)")
            }
        }
    }

    @Test("Several errors are one, which has them all")
    func several() throws {
        try context.performAndWait {
            let authors = [shelf.author(nil, in: context), shelf.author(nil, in: context)]
            do {
                try context.save()
                Issue.record("nothing was thrown")
            } catch let error as NSError where error.code == NSValidationMultipleErrorsError {
                let details = try #require(error.userInfo[NSDetailedErrorsKey] as? [NSError])
                #expect(
                    details.map(\.code)
                        == [Int](repeating: NSValidationMissingMandatoryPropertyError, count: 2))
                let objects = details.compactMap {
                    $0.userInfo[NSValidationObjectErrorKey] as? NSManagedObject
                }
                #expect(Set(objects) == Set(authors))
            }
        }
    }

    @Test("A conflict with somebody else's change has both states")
    func mergeConflict() throws {
        let book = try context.performAndWait {
            let book = shelf.book("Emma", pages: 1, in: context)
            try context.save()
            return book
        }
        try shelf.change("Book", "pages", to: 2)
        try context.performAndWait {
            book.setValue(3, forKey: "pages")
            let error = try failure { try context.save() } as NSError
            #expect(error.code == NSManagedObjectMergeError)
            let conflicts = try #require(
                error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])
            try #require(conflicts.count == 1)
            #expect(conflicts[0].sourceObject === book)
            #expect(conflicts[0].objectSnapshot?["pages"] as? Int == 1)
            #expect(conflicts[0].cachedSnapshot?["pages"] as? Int == 2)
            #expect(conflicts[0].persistedSnapshot == nil)
            #expect(conflicts[0].oldVersionNumber == 1 && conflicts[0].newVersionNumber == 2)
            #expect(book.value(forKey: "pages") as? Int == 3 && context.hasChanges)
            // What a policy makes of them can be saved.
            try NSMergePolicy.mergeByPropertyStoreTrump.resolve(mergeConflicts: conflicts)
            try context.save()
            #expect(book.value(forKey: "pages") as? Int == 2)
        }
    }

    @Test("A violated constraint has its values and the objects")
    func constraintConflict() throws {
        try context.performAndWait {
            let old = shelf.author("Austen", code: "A", in: context)
            try context.save()
            let new = shelf.author("Atwood", code: "A", in: context)
            let error = try failure { try context.save() } as NSError
            #expect(error.code == NSManagedObjectConstraintMergeError)
            let conflicts = try #require(
                error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])
            try #require(conflicts.count == 1)
            #expect(conflicts[0].constraint == ["code"])
            #expect(conflicts[0].constraintValues["code"] as? String == "A")
            #expect(conflicts[0].databaseObject === old)
            #expect(conflicts[0].databaseSnapshot?["name"] as? String == "Austen")
            #expect(conflicts[0].conflictingObjects == [new])
            #expect(conflicts[0].conflictingSnapshots.count == 1)
        }
    }

    @Test("The object of a row that is gone is none")
    func gone() throws {
        let other = shelf.context()
        let id = try other.performAndWait {
            let book = shelf.book("Emma", pages: 1, in: other)
            try other.save()
            other.delete(book)
            try other.save()
            return book.objectID
        }
        try context.performAndWait {
            let error = try failure { _ = try context.existingObject(with: id) } as NSError
            #expect(error.domain == NSCocoaErrorDomain)
            #expect(error.code == NSManagedObjectReferentialIntegrityError)
        }
    }

    @Test("The numbers are Core Data's")
    func numbers() {
        let ofObjects: [Int] = [
            NSManagedObjectValidationError, NSManagedObjectConstraintValidationError,
            NSValidationMultipleErrorsError, NSValidationMissingMandatoryPropertyError,
            NSValidationRelationshipLacksMinimumCountError,
            NSValidationRelationshipExceedsMaximumCountError,
            NSValidationRelationshipDeniedDeleteError, NSValidationNumberTooLargeError,
            NSValidationNumberTooSmallError, NSValidationDateTooLateError,
            NSValidationDateTooSoonError, NSValidationInvalidDateError,
            NSValidationStringTooLongError, NSValidationStringTooShortError,
            NSValidationStringPatternMatchingError, NSValidationInvalidURIError,
            NSManagedObjectContextLockingError, NSPersistentStoreCoordinatorLockingError,
            NSManagedObjectReferentialIntegrityError,
            NSManagedObjectExternalRelationshipError, NSManagedObjectMergeError,
            NSManagedObjectConstraintMergeError,
        ]
        #expect(
            ofObjects == [
                1550, 1551, 1560, 1570, 1580, 1590, 1600, 1610, 1620, 1630, 1640, 1650, 1660, 1670,
                1680, 1690, 132_000, 132_010, 133_000, 133_010, 133_020, 133_021,
            ])
        let ofStores: [Int] = [
            NSPersistentStoreInvalidTypeError, NSPersistentStoreTypeMismatchError,
            NSPersistentStoreIncompatibleSchemaError, NSPersistentStoreSaveError,
            NSPersistentStoreIncompleteSaveError, NSPersistentStoreSaveConflictsError,
            NSCoreDataError, NSPersistentStoreOperationError, NSPersistentStoreOpenError,
            NSPersistentStoreTimeoutError, NSPersistentStoreUnsupportedRequestTypeError,
            NSPersistentStoreIncompatibleVersionHashError, NSMigrationError,
            NSMigrationConstraintViolationError, NSMigrationCancelledError,
            NSMigrationMissingSourceModelError, NSMigrationMissingMappingModelError,
            NSMigrationManagerSourceStoreError, NSMigrationManagerDestinationStoreError,
            NSEntityMigrationPolicyError, NSSQLiteError, NSInferredMappingModelError,
            NSExternalRecordImportError, NSPersistentHistoryTokenExpiredError,
        ]
        #expect(
            ofStores == [
                134_000, 134_010, 134_020, 134_030, 134_040, 134_050, 134_060, 134_070, 134_080,
                134_090, 134_091, 134_100, 134_110, 134_111, 134_120, 134_130, 134_140, 134_150,
                134_160, 134_170, 134_180, 134_190, 134_200, 134_301,
            ])
    }
}
