import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog

@Suite("Who may have a store open")
struct StoreLockTests {
    #if os(Linux)
        /// Another process that has the writer's byte of a lock file.
        final class OtherWriter {
            let process = Process()
            private let input = Pipe()

            init(_ lock: String) throws {
                let script = """
                    import fcntl, struct, sys
                    file = open(sys.argv[1], "r+b")
                    fcntl.fcntl(file, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 1, 0))
                    print("locked", flush=True)
                    sys.stdin.read()
                    """
                let output = Pipe()
                process.executableURL = URL(filePath: "/usr/bin/env")
                process.arguments = ["python3", "-c", script, lock]
                process.standardInput = input
                process.standardOutput = output
                try process.run()
                _ = inTime(for: "the other process to lock") {
                    output.fileHandleForReading.availableData
                }
            }

            func stop() {
                input.fileHandleForWriting.closeFile()
                inTime(for: "the other process to end") { process.waitUntilExit() }
            }
        }

        @Test("A second writer in another process is told who writes")
        func otherProcess() throws {
            try withTemporaryDirectory { directory in
                let path = directory.path("test.cairn")
                var options = SampleStore.options(on: POSIXFileSystem())
                let store = try LogStore.open(
                    at: path, schema: try SampleStore.schema(), options: options)
                try SampleStore.firstObjects(store)
                let text = try SampleStore.text(store)
                try store.close()
                let other = try OtherWriter(path + "/lock")
                defer { other.stop() }
                for timeout in [0, 0.02, .nan, -1] {
                    options.timeout = timeout
                    // It can be opened, and who wants to write waits for its turn.
                    let second = try LogStore.open(at: path, options: options)
                    #expect(try SampleStore.text(second) == text)
                    let error = #expect(throws: StoreError.self) {
                        try SampleStore.manyRows(second)
                    }
                    #expect(error?.code == .storeInUse)
                    #expect(
                        error?.message
                            == "process \(other.process.processIdentifier) (python3) is writing to the store"
                    )
                    try second.close()
                }
                // To read is allowed.
                options.isReadOnly = true
                let reader = try LogStore.open(at: path, options: options)
                #expect(try SampleStore.text(reader) == text)
                try reader.close()
                other.stop()
                options.isReadOnly = false
                try LogStore.open(at: path, options: options).close()
            }
        }
    #endif

    @Test(
        "A reader beside a writer sees what is durable, in one segment or many, once the writer has said how much that is",
        arguments: [1 << 30, 4096] as [UInt64], [true, false])
    func readers(segmentBytes: UInt64, withMark: Bool) throws {
        let disk = MemoryFileSystem()
        for durability in [LogStoreOptions.Durability.full, .relaxed] {
            let folder = "/\(durability)"
            let options = SampleStore.options(
                on: disk, segmentBytes: segmentBytes, durability: durability)
            let writer = try LogStore.open(
                at: folder, schema: try SampleStore.schema(), options: options)
            var contents = [try SampleStore.text(writer)]
            for step in SampleStore.steps {
                try step(writer)
                contents.append(try SampleStore.text(writer))
                if !withMark {
                    try disk.open(FilePath(folder + "/lock"), .readWrite).truncate(to: 0)
                }
                var reading = options
                reading.isReadOnly = true
                guard withMark else {
                    // More may be durable than what the frames know to be.
                    reading.timeout = 0
                    let error = try #require(throws: StoreError.self) {
                        try LogStore.open(at: folder, options: reading)
                    }
                    #expect(error.code == .storeInUse)
                    continue
                }
                let reader = try LogStore.open(at: folder, options: reading)
                let text = try SampleStore.text(reader)
                switch (durability, segmentBytes) {
                case (.full, _): #expect(text == contents.last)
                // Only a change of segment syncs.
                case (.relaxed, 4096): #expect(contents.dropLast(1).contains(text))
                default: #expect(text == contents[0])
                }
                #expect(throws: StoreError.self) { try SampleStore.manyRows(reader) }
                try reader.close()
            }
            try writer.close()
        }
    }

    @Test("Readers find a whole state while a writer writes")
    func readersMeanwhile() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.path("test.cairn")
            let options = SampleStore.options(on: POSIXFileSystem(), segmentBytes: 20_000)
            let first = try LogStore.open(
                at: path, schema: try SampleStore.schema(), options: options)
            try first.close()
            try await withThrowingTaskGroup { group in
                group.addTask {
                    for round in 0..<20 {
                        let store = try LogStore.open(at: path, options: options)
                        for commit in 0..<3 {
                            var request = BatchInsertRequest(
                                entityName: "Airport",
                                objects: (0..<4).map { ["code": "\(round) \(commit) \($0)"] })
                            request.author = "writer"
                            _ = try store.execute(request)
                        }
                        try store.close()
                    }
                }
                group.addTask {
                    var last = 0
                    for _ in 0..<60 {
                        var reading = options
                        reading.isReadOnly = true
                        let store = try LogStore.open(at: path, options: reading)
                        let fetch = StoreFetch(
                            entity: try #require(store.schema.entity(named: "Airport")).index)
                        let count = try store.snapshot().count(fetch)
                        #expect(count % 4 == 0)
                        #expect(count >= last, "what was seen does not vanish")
                        last = count
                        try store.close()
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test(
        "All who open a store in one process share it, and one that closes leaves it to the others")
    func shared() throws {
        try withTemporaryDirectory { directory in
            let path = directory.path("test.cairn")
            let options = SampleStore.options(on: POSIXFileSystem())
            let first = try LogStore.open(
                at: path, schema: try SampleStore.schema(), options: options)
            let second = try LogStore.open(at: directory.path("./test.cairn"), options: options)
            try SampleStore.firstObjects(first)
            #expect(try SampleStore.text(second) == SampleStore.text(first))
            try first.close()
            try first.close()
            #expect(throws: StoreError.self) { try first.snapshot() }
            try SampleStore.manyRows(second)
            let text = try SampleStore.text(second)
            try second.close()
            let again = try LogStore.open(at: path, options: options)
            #expect(again.recovery.wasClosed)
            #expect(try SampleStore.text(again) == text)
            try again.close()
        }
    }

    @Test(
        "Snapshots that are held after the close stay readable, while the store is opened and changed again"
    )
    func heldSnapshots() throws {
        try withTemporaryDirectory { directory in
            let path = directory.path("test.cairn")
            var options = SampleStore.options(on: POSIXFileSystem(), segmentBytes: 6000)
            options.cacheBytes = 0
            let store = try LogStore.open(
                at: path, schema: try SampleStore.schema(), options: options)
            for step in SampleStore.steps { try step(store) }
            var fetch = try SampleStore.fetch(store, .compare("code", .notEqual, .string("?")))
            fetch.includesRows = true
            let snapshot = try store.snapshot()
            let before = try snapshot.fetch(fetch)
            try store.close()
            let again = try LogStore.open(at: path, options: options)
            _ = try again.execute(BatchDeleteRequest(.fetch(fetch)))
            let after = try snapshot.fetch(fetch)
            #expect(after.ids == before.ids)
            #expect(after.rows.map(\.cells) == before.rows.map(\.cells))
            #expect(try again.snapshot().fetch(fetch).ids.isEmpty)
            try again.close()
            #expect(try snapshot.fetch(fetch).ids == before.ids)
        }
    }
}
