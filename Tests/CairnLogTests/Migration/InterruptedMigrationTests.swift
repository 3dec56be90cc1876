// Whenever a migration is cut off, the store is of the old model or of the new one, whole.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog

@Suite("Migration that is cut off (SC2)")
struct InterruptedMigrationTests {
    private typealias Store = MigratedStore

    /// A store of the first model of the sample, closed.
    private static func fill(_ store: Store) throws -> Store.Content {
        try store.with(MigratedSample.models[0]) { log in
            try MigratedSample.fill(log, version: 0)
            return try Store.content(log)
        }
    }

    /// What is in a store, opened with the model that it has; and that it follows to the end.
    private static func look(_ image: DiskImage, _ contents: [Store.Content], _ place: Comment)
        throws -> Int?
    {
        let store = Store(on: try image.disk())
        let found = try store.with(nil) { log in
            #expect(try log.check().findings.isEmpty, place)
            return (try Store.content(log), log.schema.entity(named: "Article") != nil)
        }
        let version = contents.firstIndex(of: found.0)
        #expect(version == (found.1 ? 1 : 0), place)
        try store.migrate(to: MigratedSample.models[1])
        try store.with(MigratedSample.models[1]) { log in
            let content = try Store.content(log)
            #expect(content == contents[1], place)
            #expect(try log.check().findings.isEmpty, place)
        }
        return version
    }

    @Test("The power fails after any of its changes of the disk")
    func powerLoss() throws {
        var random = RandomSource("migration under power loss")
        let disk = PowerLossDisk()
        let store = Store(on: disk)
        var contents = [try Self.fill(store)]
        let start = disk.changeCount
        try store.migrate(to: MigratedSample.models[1])
        let end = disk.changeCount
        contents.append(try store.with(nil) { try Store.content($0) })
        #expect(end > start + 10)
        var seen: Set<Int> = []
        for count in start...end {
            for _ in 0..<Campaign.count(1, whole: 200) {
                let image = try #require(disk.image(after: count, &random))
                let version = try Self.look(
                    image, contents, "after \(count) changes, seed \(random.seed)")
                if let version { seen.insert(version) }
                if count == end { #expect(version == 1) }
                if count == start { #expect(version == 0) }
            }
        }
        #expect(seen == [0, 1])
    }

    @Test("Any of its calls fails, and it says so; what is there is the one or the other")
    func failingCalls() throws {
        let whole = MemoryFileSystem()
        let contents = [
            try Self.fill(Store(on: whole)),
            try {
                try Store(on: whole).migrate(to: MigratedSample.models[1])
                return try Store(on: whole).with(nil) { try Store.content($0) }
            }(),
        ]
        for (operation, file) in [
            (FileSystemError.Operation.write, "segment"), (.synchronize, "segment"),
            (.write, ""), (.synchronize, ""), (.syncDirectory, ""), (.open, "segment"),
        ] {
            var number = 1
            while true {
                let base = MemoryFileSystem()
                _ = try Self.fill(Store(on: base))
                let faulty = FaultInjectingFileSystem(over: base)
                faulty.fail(
                    operation, number: number, of: file.isEmpty ? nil : file, with: .ioError,
                    afterWriting: 100)
                var failed = false
                do {
                    try Store(on: faulty).migrate(to: MigratedSample.models[1])
                } catch {
                    failed = true
                }
                let calls = faulty.history.count { (call) -> Bool in
                    call.operation == operation && call.path.string.hasSuffix(file)
                }
                let version = try Self.look(
                    DiskImage(of: base), contents, "\(operation) \(number) of \(file)")
                if !failed { #expect(version == 1) }
                if calls < number { break }
                number += 1
            }
            #expect(number > 1, "\(operation) of \(file)")
        }
    }
}
