// A reader follows a writer, which leads the store to another model.

import CairnFileSystem
import CairnMigration
import CairnModel
import CairnStore
import Testing

@testable import CairnLog

@Suite("Following a store that is migrated")
struct FollowedMigrationTests {
    enum Way: Sendable, CaseIterable {
        case inferred
        /// By a mapping.
        case mapped
        /// What the reader has not read yet is gone: it reads the log anew.
        case compacted
    }

    @Test(
        "The reader says that the model has changed, and shows what it had until it is opened again",
        arguments: Way.allCases)
    func told(_ way: Way) throws {
        let store = MigratedStore()
        let before = try store.with(MigratedSample.models[0]) { log in
            try MigratedSample.fill(log, version: 0)
            return try MigratedStore.content(log)
        }
        let reader = try store.open(nil) { options in
            options.isReadOnly = true
            options.followsWriter = false
        }
        let model = MigratedSample.models[1]
        switch way {
        case .inferred: try store.migrate(to: model)
        case .mapped:
            let migration = try LogStore.beginMigration(
                at: "/store", to: try Schema(model), options: store.options)
            _ = try migration.destination.execute(
                BatchInsertRequest(entityName: "Tag", objects: [["label": "only"]]))
            try migration.finish([])
        case .compacted:
            try store.migrate(to: model)
            try store.with(model) { log in
                try MigratedSample.fill(log, version: 1)
                _ = try log.compact()
            }
            // As after a crash: nothing but the log is there.
            try store.removeCheckpoints()
        }
        for _ in 0..<2 {
            let error = #expect(throws: StoreError.self) { try reader.refresh() }
            #expect(error?.code == .incompatibleModel)
            #expect(error?.message == "the store's model has changed since it was opened")
            #expect(error?.context.path == "/store")
            #expect(try MigratedStore.content(reader) == before)
            #expect(try reader.check().findings.isEmpty)
        }
        // Whoever opens the store in this process as well is told the same, as long as it is open.
        let second = #expect(throws: StoreError.self) {
            try store.open(nil) { $0.isReadOnly = true }
        }
        #expect(second?.code == .incompatibleModel)
        try reader.close()
        let again = try store.open(model) { $0.isReadOnly = true }
        #expect(try MigratedStore.content(again) != before)
        #expect(try again.check().findings.isEmpty)
        try again.close()
    }
}
