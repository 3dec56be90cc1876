// Derived attributes of siblings, which are found by the relationships of their parent.

import CairnModel
import CairnStore
import Foundation
import StoreBackends
import Testing

@testable import CairnObjects

@Suite("Derived attributes of siblings")
struct DerivedSiblingsTests {
    /// An author with a review and a reprint, each with a part.
    private struct Scene {
        let stack: Stack
        let author: ObjectID
        let reprint: ObjectID
        let review: ObjectID

        init(_ backend: Backend) throws {
            stack = try Stack(Models.press, backend)
            let ids = try stack.store { context in
                let author = context.make("Author", ["name": "A", "age": 30])
                let reprint = context.make("Reprint", ["name": "R", "author": author])
                let review = context.make("Review", ["name": "V", "author": author])
                context.make("Article", ["name": "one", "parent": reprint, "wordCount": 3])
                context.make("Article", ["name": "two", "parent": review, "wordCount": 4])
                return [author, reprint, review]
            }
            (author, reprint, review) = (ids[0], ids[1], ids[2])
        }

        func object(_ id: ObjectID) throws -> ManagedObject {
            try stack.context().existingObject(with: id)
        }

        /// What of the reprint changes only when somebody saves it.
        func stamps() throws -> [String] {
            let object = try object(reprint)
            return ["printedAt", "renewedAt", "checkedAt", "savedAt", "sectionName"].map {
                "\($0) \(object[$0].map { "\($0)" } ?? "nil")"
            }
        }

        func update(_ entity: String, _ row: [String: Any]) throws {
            var request = BatchInsertRequest(entityName: entity, objects: [row])
            request.mergePolicy = .mergeByPropertyObjectTrump
            request.setOnly = true
            #expect(try stack.store.execute(request).updatedCount == 1)
        }
    }

    @Test(
        "A path of one sibling's attribute does not write the other, by save or batch",
        arguments: Backend.allCases, [false, true])
    func paths(_ backend: Backend, _ isBatch: Bool) throws {
        let scene = try Scene(backend)
        let (before, version) = (try scene.stamps(), try scene.object(scene.reprint).version)
        #expect(try scene.object(scene.review).int("authorAge") == 30)
        if isBatch {
            try scene.update("Author", ["name": "A", "age": 31])
        } else {
            let context = scene.stack.context()
            context.object(with: scene.author)["age"] = 31
            try context.save()
        }
        #expect(try scene.object(scene.review).int("authorAge") == 31)
        #expect(try scene.stamps() == before)
        #expect(try scene.object(scene.reprint).version == version)
    }

    @Test(
        "Members that one sibling's attribute is made of do not give the other a moment",
        arguments: Backend.allCases, [false, true])
    func members(_ backend: Backend, _ isBatch: Bool) throws {
        let scene = try Scene(backend)
        let (before, version) = (try scene.stamps(), try scene.object(scene.reprint).version)
        #expect(try scene.object(scene.review).int("longestPart") == 4)
        for name in ["one", "two"] {
            if isBatch {
                try scene.update("Article", ["name": name, "wordCount": 9])
            } else {
                let context = scene.stack.context()
                try context.find("Article", "name", .string(name))[0]["wordCount"] = 9
                try context.save()
            }
        }
        #expect(try scene.object(scene.review).int("longestPart") == 9)
        #expect(try scene.object(scene.reprint).int("partWords") == 9)
        // What is made of the parts is another value, and so another version; no moment belongs to it.
        #expect(try scene.stamps() == before)
        #expect(try scene.object(scene.reprint).version == version + 1)
    }
}
