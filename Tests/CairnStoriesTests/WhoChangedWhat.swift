// The examples of the article of this name, as code that runs.

import Cairn
import CairnTestSupport
import Foundation
import Testing

@Entity
final class Consignment: ManagedObject {
    @Attribute(.unique, .preserveValueOnDeletion) var code: String = ""
    var place: String?
}

@Suite("Who changed what")
struct WhoChangedWhat {
    /// A search index that is kept beside the store.
    private struct SearchIndex {
        var places: [String: String?] = [:]
        var gone: [String] = []
    }

    @Test("A search index follows a store, whoever writes to it and whenever it is looked at")
    func following() throws {
        let directory = try TemporaryDirectory()
        let (path, tokenFile) = (directory.path("store.cairn"), directory.path("token.json"))

        // WhoChangedWhat 1 begins
        var options = LogStoreOptions()
        options.persistentHistoryTracking = true
        let container = try PersistentContainer(at: path, for: Consignment.self, options: options)
        // WhoChangedWhat 1 ends
        let store = try #require(container.store as? LogStore)
        #expect(store.historyTracking == .on)

        let context = ManagedObjectContext(store: container.store, classes: container.classes)
        // WhoChangedWhat 2 begins
        context.transactionAuthor = "counter"
        // WhoChangedWhat 2 ends
        for code in ["A1", "B2", "C3"] { context.insert(Consignment.self).code = code }
        try context.save()
        let import1 = ManagedObjectContext(store: container.store, classes: container.classes)
        import1.transactionAuthor = "scanner"
        import1.mergePolicy = .mergeByPropertyObjectTrump
        try import1.execute(
            BatchInsertRequest(
                entityName: "Consignment",
                objects: [["code": "A1", "place": "Graz"], ["code": "D4", "place": "Linz"]]))
        let gone = try context.fetch(FetchRequest<Consignment>()).first { $0.code == "C3" }
        context.delete(try #require(gone))
        try context.save()

        var index = SearchIndex()
        func follow() throws -> Int {
            var transactions = 0
            // WhoChangedWhat 3 begins
            var token = try? JSONDecoder().decode(
                PersistentHistoryToken.self, from: Data(contentsOf: URL(filePath: tokenFile)))

            let history = try container.fetchHistory(.fetchHistory(after: token))
            while let transaction = try history.next() {
                for change in transaction.changes ?? [] {
                    switch change.changeType {
                    case .insert, .update:
                        let object = try? context.existingObject(with: change.changedObjectID)
                        guard let consignment = object as? Consignment else { continue }
                        index.places[consignment.code] = consignment.place
                    case .delete:
                        guard case .string(let code) = change.tombstone?["code"] else { continue }
                        index.places[code] = nil
                        // WhoChangedWhat 3 pauses
                        index.gone.append(code)
                    // WhoChangedWhat 3 goes on
                    }
                }
                token = transaction.token
                // WhoChangedWhat 3 pauses
                transactions += 1
                // WhoChangedWhat 3 goes on
            }
            try JSONEncoder().encode(token).write(to: URL(filePath: tokenFile))
            // WhoChangedWhat 3 ends
            return transactions
        }
        #expect(try follow() == 3)
        #expect(index.places == ["A1": "Graz", "B2": nil, "D4": "Linz"] && index.gone == ["C3"])
        #expect(try follow() == 0)
    }
}
