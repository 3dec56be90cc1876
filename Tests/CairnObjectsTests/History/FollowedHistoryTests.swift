// A process that reads is told of what another one writes, with points of the history that lead to it.

import CairnFileSystem
import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

@Suite("The history of what another process writes")
struct FollowedHistoryTests {
    @Test("Each remote change has the token behind it, and those between two are what is fetched")
    func remoteChanges() async throws {
        let disk = MemoryFileSystem()
        var options = LogStoreOptions()
        options.fileSystem = disk
        options.persistentHistoryTracking = true
        let writer = try LogStore.open(
            at: "/store", schema: try Schema(Models.shop), options: options)
        options.isReadOnly = true
        options.followsWriter = false
        options.persistentHistoryTracking = nil
        let reader = try LogStore.open(at: "/store", options: options)
        #expect(reader.historyTracking == .keptOn)
        let container = PersistentContainer(store: reader)
        var changes = container.remoteChanges.inTime().makeAsyncIterator()
        let context = ManagedObjectContext(store: writer)
        let shown = ManagedObjectContext(store: reader)
        context.transactionAuthor = "writer"
        var token = try #require(try container.currentPersistentHistoryToken())
        var shops: [ManagedObject] = []
        for round in 1...4 {
            // Several commits are told as one.
            for index in 0..<round {
                shops.append(context.make("Shop", ["name": "\(round) \(index)"]))
                try context.save()
            }
            shops[0]["name"] = "changed in round \(round)"
            try context.save()
            _ = try writer.compact()
            #expect(try reader.refresh())
            let change = try #require(await changes.next(isolation: #isolation))
            #expect(change.isFromAnotherProcess && change.insertedObjectIDs.count == round)
            let told = try #require(change.historyToken)
            #expect(told == (try writer.currentHistoryToken()))
            #expect(told == (try container.currentPersistentHistoryToken()))
            let found = try container.execute(.fetchHistory(after: token)).transactions
            #expect(found.count == round + 1 && found.allSatisfy { $0.author == "writer" })
            #expect(found.allSatisfy { change.commits.contains($0.transactionNumber) })
            #expect(
                found.flatMap(\.insertedObjectIDs).map(\.reference)
                    == shops.suffix(round).map(\.objectID.reference))
            #expect(found.last?.token == told)
            for transaction in found { shown.mergeChanges(from: transaction) }
            #expect(shown.object(with: shops[0].objectID).string("name") == shops[0].string("name"))
            token = told
        }
        // What the writer deletes is deleted for the reader.
        _ = try writer.execute(.deleteHistory(before: token))
        _ = try reader.refresh()
        #expect(
            try container.execute(.fetchHistory(after: nil)).transactions.map(\.token) == [token])
        #expect(
            storeError { try container.execute(.deleteHistory(before: token)) }?.code == .readOnly)
        try reader.close()
        try writer.close()
    }
}
