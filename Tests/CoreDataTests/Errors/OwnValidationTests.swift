// What a class's own validation throws, and what a save makes of it.

import CoreData
import Testing

/// A note whose class refuses some texts.
final class CheckedNote: NSManagedObject {
    static let domain = "CheckedNote"

    private func check() throws {
        let text = value(forKey: "text") as? String
        if text == "refused" {
            throw NSError(domain: Self.domain, code: 7, userInfo: ["object": self])
        }
        if text == "plain" { throw Refusal() }
    }

    struct Refusal: Error, Equatable {}

    override func validateForInsert() throws {
        try super.validateForInsert()
        try check()
    }

    override func validateForUpdate() throws {
        try super.validateForUpdate()
        try check()
    }
}

@Suite("Validation by a class")
struct OwnValidationTests {
    let container: NSPersistentContainer
    let context: NSManagedObjectContext

    init() throws {
        let text = NSAttributeDescription()
        text.name = "text"
        text.attributeType = .stringAttributeType
        text.isOptional = false
        text.setValidationPredicates(
            [NSPredicate(format: "SELF.length < 20")], withValidationWarnings: ["too long"])
        let note = NSEntityDescription()
        note.name = "CheckedNote"
        note.managedObjectClassName = NSStringFromClass(CheckedNote.self)
        note.properties = [text]
        let model = NSManagedObjectModel()
        model.entities = [note]
        container = try Stack.inMemory(model)
        context = container.newBackgroundContext()
    }

    private func note(_ text: String?) -> NSManagedObject {
        let note = NSEntityDescription.insertNewObject(forEntityName: "CheckedNote", into: context)
        note.setValue(text, forKey: "text")
        return note
    }

    @Test("An error of the class is what the save throws, as it is")
    func single() {
        context.performAndWait {
            let note = note("refused")
            do {
                try context.save()
                Issue.record("nothing was thrown")
            } catch let error as NSError {
                #expect(error.domain == CheckedNote.domain && error.code == 7)
                #expect(error.userInfo["object"] as? NSManagedObject === note)
            }
            note.setValue("plain", forKey: "text")
            _ = #expect(throws: CheckedNote.Refusal()) { try context.save() }
            #expect(context.insertedObjects == [note])
        }
    }

    @Test("With others it is among the single errors")
    func several() throws {
        try context.performAndWait {
            _ = note("refused")
            _ = note(nil)
            do {
                try context.save()
                Issue.record("nothing was thrown")
            } catch let error as NSError {
                #expect(error.code == NSValidationMultipleErrorsError)
                let details = try #require(error.userInfo[NSDetailedErrorsKey] as? [NSError])
                #expect(
                    Set(details.map(\.code)) == [7, NSValidationMissingMandatoryPropertyError])
            }
        }
    }

    @Test("A predicate of the model is named, with the value")
    func predicate() {
        context.performAndWait {
            _ = note("a text that is longer than that")
            do {
                try context.save()
                Issue.record("nothing was thrown")
            } catch let error as NSError {
                #expect(error.domain == NSCocoaErrorDomain)
                let predicate = error.userInfo[NSValidationPredicateErrorKey] as? NSPredicate
                let value = error.userInfo[NSValidationValueErrorKey] as? String
                // A limit of the length is a limit of its own, with a number of its own.
                #expect(
                    error.code == NSValidationStringTooLongError
                        || error.code == NSManagedObjectValidationError && predicate != nil)
                #expect(value == "a text that is longer than that")
            }
        }
    }
}
