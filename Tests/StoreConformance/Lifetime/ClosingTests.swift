// What becomes of a store that is closed, and of its content where that outlives it.

import CairnModel
import CairnStore
import StoreBackends
import Testing

@Suite("Closing and opening")
struct ClosingTests {
    @Test("A store that was closed does nothing but say so", arguments: Backend.everyStore)
    func closed(_ backend: Backend) throws {
        try backend.withSubject(history: true, sample: true) { subject in
            let store = subject.store
            var draft = try subject.draft()
            try draft.insert("Item", ["code": "x"])
            try store.close()
            for (place, error) in [
                storeError { _ = try store.snapshot() },
                storeError { _ = try store.save(draft.request) },
                storeError { _ = try store.save(SaveRequest()) },
                storeError { _ = try subject.batch("Item", [["code": "x"]]) },
                storeError { _ = try subject.batchUpdate("Item", nil, ["note": "x"]) },
                storeError { _ = try subject.batchDelete("Item") },
                storeError { _ = try store.obtainPermanentIDs(forEntities: [0]) },
                storeError { _ = try store.metadata() },
                storeError { try store.setMetadata(["a": .integer(1)]) },
                storeError { _ = try store.historyBounds() },
                storeError { _ = try store.fetchHistory(.fetchHistory(after: nil)) },
                storeError { _ = try store.currentHistoryToken() },
                storeError { _ = try store.historyConsumers() },
            ].enumerated() {
                #expect(error?.code == .unusable, "question \(place)")
            }
            // To close it once more is no mistake.
            try store.close()
        }
    }

    @Test(
        "What was written is there when the store is opened again", arguments: Backend.lastingStores
    )
    func reopened(_ backend: Backend) throws {
        try backend.withPlace(SampleModel.schema) { place in
            var content: [String] = []
            var commit: UInt64 = 0
            var identifier = try place.open().identity.identifier
            let first = identifier
            for round in 0..<4 {
                let subject = Subject(store: try place.open())
                identifier = subject.store.identity.identifier
                if round == 0 {
                    try subject.insertSample()
                } else {
                    #expect(try subject.content() == content)
                    #expect(try subject.store.snapshot().commit == commit)
                    try subject.update("Item", "a", ["amount": round])
                    try subject.batch("Item", [["code": "x\(round)", "owner": "Dot"]])
                    try subject.batchDelete("Item", "amount == 7")
                }
                content = try subject.content()
                commit = try subject.store.snapshot().commit
                try subject.store.close()
            }
            #expect(identifier == first)
        }
    }

    @Test(
        "Ids that were given are not given again when the store is opened again",
        arguments: Backend.lastingStores)
    func idsAfterReopening(_ backend: Backend) throws {
        try backend.withPlace(SampleModel.schema) { place in
            var given: [ObjectID] = []
            for round in 0..<4 {
                let subject = Subject(store: try place.open())
                let item = try subject.entity("Item").index
                given += try subject.store.obtainPermanentIDs(forEntities: [item, item])
                given.append(try subject.insert("Item", ["code": "\(round)"]))
                try subject.delete("Item", "\(round)")
                try subject.store.close()
            }
            #expect(Set(given).count == given.count)
        }
    }

    @Test(
        "A failed save leaves nothing that is there after opening again",
        arguments: Backend.lastingStores)
    func failure(_ backend: Backend) throws {
        try backend.withPlace(SampleModel.schema) { place in
            var subject = Subject(store: try place.open())
            try subject.insertSample()
            let content = try subject.content()
            #expect(storeError { try subject.insert("Item", ["code": "a"]) } != nil)
            #expect(storeError { try subject.batch("Item", [["code": "x", "small": 1e9]]) } != nil)
            try subject.store.close()
            subject = Subject(store: try place.open())
            #expect(try subject.content() == content)
        }
    }
}
