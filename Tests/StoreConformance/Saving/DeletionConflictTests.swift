// Objects that one side has deleted and the other one has changed.

import CairnModel
import CairnStore
import StoreBackends
import Testing

@Suite("Objects that one side has deleted")
struct DeletionConflictTests {
    @Test(
        "What others have deleted and we have changed stays gone, or is created again as we have it",
        arguments: MergePolicyKind.allCases, Backend.everyStore)
    func deletedByOthers(_ policy: MergePolicyKind, _ backend: Backend) throws {
        try backend.withSubject { subject in
            let id = try subject.insert("Item", ["code": "a", "note": "base", "amount": 1])
            var draft = try subject.draft()
            try draft.update(id, ["note": "ours"])
            try subject.delete("Item", "a")
            switch policy {
            case .error:
                let error = storeError { try subject.save(draft, policy) }
                #expect(error?.code == .mergeConflict)
                guard case .version(let conflict)? = error?.conflicts.first else {
                    Issue.record("no conflict of versions")
                    return
                }
                #expect(conflict.id == id && conflict.stored == nil && !conflict.isDeletion)
                #expect(try subject.content().isEmpty)
            case .mergeByPropertyStoreTrump, .rollback:
                let result = try subject.save(draft, policy)
                #expect(result.reverted == [id] && result.rows[id] == nil)
                #expect(try subject.content().isEmpty)
            case .mergeByPropertyObjectTrump, .overwrite, .declared:
                try subject.save(draft, policy)
                #expect(try subject.id("Item", "a") == id)
                #expect(try subject.text("Item", "a", "note", "amount") == "ours 1")
                let version = try subject.row("Item", "a").version
                #expect(version > 1)
            }
        }
    }

    @Test(
        "What we have deleted and others have changed is there again, or gone",
        arguments: MergePolicyKind.allCases, Backend.everyStore)
    func deletedByUs(_ policy: MergePolicyKind, _ backend: Backend) throws {
        try backend.withSubject { subject in
            let id = try subject.insert("Item", ["code": "a", "note": "base"])
            var draft = try subject.draft()
            try draft.delete(id)
            try subject.update("Item", "a", ["note": "theirs"])
            switch policy {
            case .error:
                let error = storeError { try subject.save(draft, policy) }
                #expect(error?.code == .mergeConflict)
                guard case .version(let conflict)? = error?.conflicts.first else {
                    Issue.record("no conflict of versions")
                    return
                }
                #expect(conflict.isDeletion && conflict.stored?.version == 2)
                #expect(try subject.text("Item", "a", "note") == "theirs")
            case .mergeByPropertyStoreTrump, .rollback:
                let result = try subject.save(draft, policy)
                #expect(result.undeleted == [id] && result.rows[id]?.version == 2)
                #expect(try subject.text("Item", "a", "note") == "theirs")
            case .mergeByPropertyObjectTrump, .overwrite, .declared:
                let result = try subject.save(draft, policy)
                #expect(result.undeleted.isEmpty)
                #expect(try subject.content().isEmpty)
            }
        }
    }

    @Test(
        "What both have deleted is no conflict", arguments: MergePolicyKind.allCases,
        Backend.everyStore)
    func deletedByBoth(_ policy: MergePolicyKind, _ backend: Backend) throws {
        try backend.withSubject { subject in
            let id = try subject.insert("Item", ["code": "a"])
            var draft = try subject.draft()
            try draft.delete(id)
            try draft.insert("Item", ["code": "b"])
            try subject.delete("Item", "a")
            try subject.save(draft, policy)
            #expect(try subject.names("Item") == "b")
        }
    }

    @Test("A deletion whose object was never read is no conflict", arguments: Backend.everyStore)
    func unread(_ backend: Backend) throws {
        try backend.withSubject { subject in
            let id = try subject.insert("Item", ["code": "a"])
            try subject.update("Item", "a", ["note": "theirs"])
            var draft = try subject.draft()
            draft.request.deleted = [
                .init(id: id, entity: try subject.entity("Item").index, version: nil)
            ]
            try subject.save(draft)
            #expect(try subject.content().isEmpty)
        }
    }
}
