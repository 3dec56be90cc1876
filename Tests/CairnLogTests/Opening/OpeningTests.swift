import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog

@Suite("Opening what was written")
struct OpeningTests {
    @Test(
        "After a clean close everything is as before, in one segment or many",
        arguments: [1 << 30, 6000, 4096] as [UInt64])
    func closed(segmentBytes: UInt64) throws {
        let history = try SampleStore.history(segmentBytes: segmentBytes)
        #expect((history.closed.segments.count > 3) == (segmentBytes < 7000))
        for _ in 0..<2 {
            let found = try history.closed.content { store in
                let findings = try store.check().findings
                #expect(findings.isEmpty)
            }
            #expect(found.text == history.contents.last)
            #expect(found.recovery.wasClosed)
            #expect(found.recovery.bytesLeftBehind == 0)
        }
    }

    @Test(
        "Without a close every commit that returned is there, and writing goes on",
        arguments: [1 << 30, 6000] as [UInt64])
    func crashed(segmentBytes: UInt64) throws {
        let history = try SampleStore.history(segmentBytes: segmentBytes)
        for (index, image) in history.images.enumerated() {
            let found = try image.content()
            #expect(found.text == history.contents[index])
            #expect(!found.recovery.wasClosed)
            #expect(found.recovery.bytesLeftBehind == 0)
            // A writer that takes over changes no content, and goes on where the other stopped.
            let disk = try image.disk()
            let options = SampleStore.options(on: disk, segmentBytes: segmentBytes)
            let store = try LogStore.open(at: "/store", options: options)
            #expect(try SampleStore.text(store) == history.contents[index])
            for (step, content) in zip(SampleStore.steps, history.contents.dropFirst())
                .dropFirst(index)
            {
                try step(store)
                let isEqual =
                    try Self.withoutNumbers(SampleStore.text(store)) == Self.withoutNumbers(content)
                #expect(isEqual)
            }
            let last = try SampleStore.text(store)
            try store.close()
            let again = try DiskImage(of: disk).content()
            #expect(again.text == last)
            // A store that is opened and closed without a commit is left as it was.
            #expect(again.recovery.wasClosed == (index < SampleStore.steps.count))
        }
    }

    /// A content without the objects' numbers, of which a crash may skip some.
    static func withoutNumbers(_ text: String) -> [String] {
        text.split(separator: "\n").map { line in
            line.split(separator: ",").filter {
                !$0.hasPrefix("\"id\":") && !$0.contains("\"country\":") && !$0.contains("source")
                    && !$0.contains("destination")
            }.joined(separator: ",")
        }
    }

    @Test("Reading changes no byte (RC3)")
    func readingOnly() throws {
        for image in try SampleStore.history(segmentBytes: 6000).images {
            let disk = try image.disk()
            var options = SampleStore.options(on: disk)
            options.isReadOnly = true
            let store = try LogStore.open(at: "/store", options: options)
            _ = try store.snapshot()
            try store.close()
            #expect(try DiskImage(of: disk) == image)
        }
    }

    @Test("Relaxed commits are there after a close, and after a crash of the process")
    func relaxed() throws {
        let disk = MemoryFileSystem()
        let options = SampleStore.options(on: disk, segmentBytes: 6000, durability: .relaxed)
        let store = try LogStore.open(
            at: "/store", schema: try SampleStore.schema(), options: options)
        for step in SampleStore.steps { try step(store) }
        let text = try SampleStore.text(store)
        #expect(try DiskImage(of: disk).content().text == text)
        try store.close()
        #expect(try DiskImage(of: disk).content().text == text)
    }

    @Test("On a real disk it is the same")
    func posix() throws {
        let history = try SampleStore.history(segmentBytes: 6000)
        try withTemporaryDirectory { directory in
            let folder = directory.filePath("real.cairn")
            let store = try LogStore.open(
                at: "\(folder)", schema: try SampleStore.schema(),
                options: SampleStore.options(on: POSIXFileSystem(), segmentBytes: 6000))
            for step in SampleStore.steps { try step(store) }
            #expect(try SampleStore.text(store) == history.contents.last)
            try store.close()
            #expect(try DiskImage(of: POSIXFileSystem(), folder) == history.closed)
            let again = try LogStore.open(at: "\(folder)")
            #expect(try SampleStore.text(again) == history.contents.last)
            try again.close()
        }
    }

    @Test(
        "Large values come back whole",
        arguments: [4095, 4096, 4097, 65536, 1_000_003, (16 << 20) + 5])
    func largeValues(size: Int) throws {
        let disk = MemoryFileSystem()
        let options = SampleStore.options(on: disk)
        let store = try LogStore.open(
            at: "/store", schema: try SampleStore.schema(), options: options)
        var random = RandomSource(seed: UInt64(size))
        var plan = Data(count: size)
        plan.withUnsafeMutableBytes { bytes in
            for index in stride(from: 0, to: size - 8, by: 8) {
                bytes.storeBytes(of: random.next(), toByteOffset: index, as: UInt64.self)
            }
        }
        _ = try store.execute(
            BatchInsertRequest(entityName: "Airport", objects: [["code": "BIG", "plan": plan]]))
        let image = try DiskImage(of: disk)
        try store.close()
        for image in [image, try DiskImage(of: disk)] {
            var read = SampleStore.options(on: try image.disk())
            read.isReadOnly = true
            let again = try LogStore.open(at: "/store", options: read)
            var fetch = try SampleStore.fetch(again, .compare("code", .equal, .string("BIG")))
            fetch.includesRows = true
            let row = try #require(try again.snapshot().fetch(fetch).rows.first)
            let entity = again.schema.entities[row.entity]
            let column = try SampleStore.column("plan", entity)
            #expect(row.cells.value(column, of: entity, in: again.identity) == .binary(plan))
            try again.close()
        }
    }

    @Test("Ids that were handed out are never given again, whatever segment the log is in")
    func earlyIDs() throws {
        for segmentBytes in [1 << 30, 4096] as [UInt64] {
            let disk = MemoryFileSystem()
            var given: Set<ObjectID> = []
            var options = SampleStore.options(on: disk, segmentBytes: segmentBytes)
            let store = try LogStore.open(
                at: "/store", schema: try SampleStore.schema(), options: options)
            let country = try #require(store.schema.entity(named: "Country")).index
            var image = DiskImage()
            func obtain(_ store: LogStore) throws {
                for id in try store.obtainPermanentIDs(forEntities: [country, country]) {
                    #expect(given.insert(id).inserted, "\(id) is given twice")
                }
            }
            for round in 0..<4 {
                try obtain(store)
                // A commit in between, which begins a new segment where they are small.
                try SampleStore.steps[round](store)
                try obtain(store)
                image = try DiskImage(of: disk)
            }
            try store.engine.takeCheckpoint()
            // Nothing is written for these: they are of the range that the checkpoint says.
            try obtain(store)
            let checkpointed = try DiskImage(of: disk)
            try store.close()
            for image in [image, checkpointed, try DiskImage(of: disk)] {
                let before = given
                options.fileSystem = try image.disk()
                for _ in 0..<2 {
                    let again = try LogStore.open(at: "/store", options: options)
                    try obtain(again)
                    try again.close()
                }
                given = before
            }
        }
    }

    private static func insert(_ code: String, _ other: String, _ store: LogStore) throws
        -> [ObjectID]
    {
        var request = BatchInsertRequest(
            entityName: "Airport", objects: [["code": code], ["code": other]])
        request.failsOnConflict = true
        request.resultType = .objectIDs
        return try store.execute(request).objectIDs
    }

    @Test("A commit that failed gives none of its numbers to another one")
    func numbersOfFailedCommits() throws {
        let disk = MemoryFileSystem()
        let options = SampleStore.options(on: disk)
        let store = try LogStore.open(
            at: "/store", schema: try SampleStore.schema(), options: options)
        let first = try Self.insert("A", "B", store)
        #expect(throws: StoreError.self) { try Self.insert("C", "A", store) }
        let second = try Self.insert("D", "E", store)
        #expect(Set(first + second).count == 4)
        let next = try store.obtainPermanentIDs(forEntities: [0])[0].reference
        try store.close()
        let again = try LogStore.open(at: "/store", options: options)
        #expect(try again.obtainPermanentIDs(forEntities: [0])[0].reference > next)
        try again.close()
    }

    @Test(
        "Numbers that close frames say after failed commits contradict no checkpoint, and no reader"
    )
    func numbersOfCloseFrames() throws {
        let disk = MemoryFileSystem()
        let options = SampleStore.options(on: disk)
        var store = try LogStore.open(
            at: "/store", schema: try SampleStore.schema(), options: options)
        var given = try Self.insert("A", "B", store)
        try store.close()
        let reader = try LogStore.open(at: "/store", options: FollowingStores.reading(disk))
        for _ in 0..<3 {
            store = try LogStore.open(at: "/store", options: options)
            #expect(throws: StoreError.self) { try Self.insert("C", "A", store) }
            try store.close()
            try reader.refresh()
        }
        store = try LogStore.open(at: "/store", options: options)
        try store.engine.takeCheckpoint()
        try store.close()
        func lengths() throws -> [Int] {
            let image = try DiskImage(of: disk)
            return image.segments.map { image.files[$0]!.count }
        }
        let length = try lengths()
        store = try LogStore.open(at: "/store", options: options)
        #expect(store.recovery.checkpoint == 2)
        try store.close()
        #expect(try lengths() == length)
        store = try LogStore.open(at: "/store", options: options)
        // The three that failed have used up a number each at least.
        given += try store.obtainPermanentIDs(
            forEntities: [store.schema.entity(named: "Airport")!.index])
        #expect(given.max { $0.reference < $1.reference }!.reference >= given[1].reference + 4)
        #expect(Set(given).count == 3)
        try store.close()
        try reader.refresh()
        try reader.close()
        #expect(try LogStore.check(at: "/store", options: options).findings.isEmpty)
    }
}
