import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog

@Suite("Stores that were written once and stay readable", .serialized)
struct GoldenStoreTests {
    private static let isWriting =
        ProcessInfo.processInfo.environment["CAIRN_GOLDEN"] == "write"

    private func path(_ name: String) -> FilePath {
        FilePath(GoldenStore.folder.path).appending(name)
    }

    private func text(_ name: String) throws -> String {
        String(
            decoding: try Data(contentsOf: GoldenStore.folder.appending(path: name)), as: UTF8.self)
    }

    private static func error(of image: DiskImage) -> String {
        do {
            _ = try image.content()
            return "no error"
        } catch {
            return "\(error)"
        }
    }

    /// Every day some, since each is read by a program of its own.
    private static let today: [GoldenStore] = {
        var random = RandomSource("golden stores")
        return Campaign.sample(GoldenStore.all, oneIn: 4, using: &random)
    }()

    @Test("Making them anew gives the same bytes", arguments: GoldenStore.all)
    func bytes(golden: GoldenStore) throws {
        let image = try golden.make()
        var broken = image
        golden.harm(&broken)
        if Self.isWriting {
            try write(image, "\(golden.name).cairn")
            try write(broken, "\(golden.name).broken.cairn")
            try Data(try image.content().text.utf8)
                .write(to: GoldenStore.folder.appending(path: "\(golden.name).jsonl"))
            try Data((Self.error(of: broken) + "\n").utf8)
                .write(to: GoldenStore.folder.appending(path: "\(golden.name).broken.error"))
        }
        let stored = try DiskImage(of: POSIXFileSystem(), path("\(golden.name).cairn"))
        #expect(stored.files.keys.sorted() == image.files.keys.sorted())
        for name in image.files.keys where golden.isReproducible {
            let isEqual = stored.files[name] == image.files[name]
            #expect(isEqual, "\(name) of \(golden.name) has other bytes than it had")
        }
        #expect(try stored.content().text == image.content().text)
    }

    private func write(_ image: DiskImage, _ name: String) throws {
        let url = GoldenStore.folder.appending(path: name)
        try? FileManager.default.removeItem(at: url)
        try FileManager.default.createDirectory(
            at: GoldenStore.folder, withIntermediateDirectories: true)
        try image.write(to: POSIXFileSystem(), FilePath(url.path))
    }

    @Test("What they hold is what their export says", arguments: GoldenStore.all)
    func contents(golden: GoldenStore) throws {
        let stored = try DiskImage(of: POSIXFileSystem(), path("\(golden.name).cairn"))
        let found = try stored.content { store in
            let findings = try store.check().findings
            #expect(findings.isEmpty)
            // Only the checkpoint says which: the store is opened without a model.
            let indexes = SampleStore.indexes.values.map(\.count).reduce(0, +)
            #expect(
                try store.statistics().fetchIndexes.count
                    == (golden.name == "indexed" ? indexes : 0))
        }
        #expect(try found.text == text("\(golden.name).jsonl"))
        let isInterrupted = ["unclean", "copying"].contains(golden.name)
        #expect(found.recovery.wasClosed == !isInterrupted)
        #expect((found.recovery.bytesLeftBehind > 0) == isInterrupted)
        let hasCheckpoint = ["checkpointed", "indexed"].contains(golden.name)
        #expect((found.recovery.checkpoint != nil) == hasCheckpoint)
    }

    @Test("The metadata are what the file beside them says, in the words of the reader in Format")
    func metadata() throws {
        let stored = try DiskImage(of: POSIXFileSystem(), path("metadata.cairn"))
        let store = try LogStore.open(
            at: "/store", options: FollowingStores.reading(try stored.disk()))
        defer { try? store.close() }
        let metadata = try #require(store.engine.registry.read { $0.catalog.metadata })
        let json = try MetadataDocument.encode(metadata.values, identifier: metadata.identifier)
        let found = "\(metadata.revision)\n" + String(decoding: json, as: UTF8.self) + "\n"
        if Self.isWriting {
            try Data(found.utf8)
                .write(to: GoldenStore.folder.appending(path: "metadata.metadata"))
        }
        #expect(try found == text("metadata.metadata"))
        #expect(metadata.values == MetadataTests.values)
        #expect(metadata.place.segment != stored.segments.count)
    }

    @Test(
        "The packed store has columns in each of the encodings whose cells are read by themselves")
    func packedColumns() throws {
        let image = try DiskImage(of: POSIXFileSystem(), path("packed.cairn"))
        var found: Set<ColumnEncoding> = []
        for name in image.segments {
            for entry in FrameMap(image.files[name]!).frames {
                let payload = Array(image.files[name]![entry.range].dropFirst(FrameHeader.size))
                    .prefix(Int(entry.header.payloadLength))
                let columns = try payload.withUnsafeBytes { payload -> [ColumnEntry] in
                    switch entry.header.kind {
                    case .block: try BlockHead(decoding: payload).columns
                    case .patch: try PatchHead(decoding: payload).own.columns
                    default: []
                    }
                }
                found.formUnion(columns.map(\.encoding))
            }
        }
        let missing = ColumnEncoding.allCases.filter { $0.isAddressable && !found.contains($0) }
        #expect(missing.isEmpty)
    }

    @Test("The redirects are what the file beside them says, in the words of the reader in Format")
    func redirects() throws {
        let stored = try DiskImage(of: POSIXFileSystem(), path("redirected.cairn"))
        let store = try LogStore.open(
            at: "/store", options: FollowingStores.reading(try stored.disk()))
        defer { try? store.close() }
        let state = store.engine.registry.published()
        let found = FoldedAirports.text(state)
        if Self.isWriting {
            try Data(found.utf8)
                .write(to: GoldenStore.folder.appending(path: "redirected.redirects"))
        }
        #expect(try found == text("redirected.redirects"))
        // Some were written once more by compaction, and some were not.
        let segments = Set((state.redirects?.entries ?? [:]).values.map(\.segment))
        let sides = Set(state.segments.sides.map(\.segment.number))
        #expect(!segments.isDisjoint(with: sides) && !segments.isSubset(of: sides))
    }

    @Test("A past state is what the file beside says, in the words of the reader in Format")
    func past() throws {
        let stored = try DiskImage(of: POSIXFileSystem(), path("past.cairn"))
        let store = try LogStore.open(
            at: "/store", options: FollowingStores.reading(try stored.disk()))
        defer { try? store.close() }
        let settings = try #require(store.engine.pastSettings)
        #expect(settings.held.count > 1 && settings.seconds == 86_400)
        // Some of it lies in segments that have left the store.
        let number: UInt64 = 7
        let snapshot = try #require(try store.snapshot(at: number) as? LogSnapshot)
        let segments = try snapshot.readable().state.segments.all.map(\.number)
        #expect(!store.engine.heldSegments.isDisjoint(with: segments))
        let found = try PastContents.text(store, snapshot)
        if Self.isWriting {
            try Data(found.utf8)
                .write(to: GoldenStore.folder.appending(path: "past.at-\(number).jsonl"))
        }
        #expect(try found == text("past.at-\(number).jsonl"))
        #expect(try found != text("past.jsonl"))
    }

    @Test("The broken ones are reported in the same words", arguments: GoldenStore.all)
    func broken(golden: GoldenStore) throws {
        let stored = try DiskImage(of: POSIXFileSystem(), path("\(golden.name).broken.cairn"))
        #expect(Self.error(of: stored) != "no error")
        #expect(try Self.error(of: stored) + "\n" == text("\(golden.name).broken.error"))
    }

    @Test(
        "The reader in Format, which knows only the text, finds the same", arguments: today)
    func independentReader(golden: GoldenStore) throws {
        let whole = try Self.read("\(golden.name).cairn")
        #expect(whole.status == 0, "\(whole.errors)")
        #expect(try whole.output == text("\(golden.name).jsonl"))
        let broken = try Self.read("\(golden.name).broken.cairn")
        #expect(broken.status == 3)
        let place = Self.place(broken.errors)
        #expect(try place == Self.place(text("\(golden.name).broken.error")) && place.count == 2)
    }

    /// Segment and rule of an error; the words around them are each program's own.
    private static func place(_ error: String) -> [Substring] {
        [error.firstMatch(of: /segment [0-9]+/), error.matches(of: /\(F-[0-9]+\)/).last]
            .compactMap { $0?.output }
    }

    /// What the reader in Format says of a store.
    private static func read(_ name: String) throws
        -> (status: Int32, output: String, errors: String)
    {
        try withTemporaryDirectory { directory in
            let outputs = try ["output", "errors"].map { name in
                let file = directory.url(name)
                try Data().write(to: file)
                return (file, try FileHandle(forWritingTo: file))
            }
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = [
                "python3", GoldenStore.folder.appending(path: "../reader.py").path,
                GoldenStore.folder.appending(path: name).path,
            ]
            (process.standardOutput, process.standardError) = (outputs[0].1, outputs[1].1)
            try process.run()
            inTime(for: "the reader of Format to end") { process.waitUntilExit() }
            let texts = try outputs.map { file, _ in
                String(decoding: try Data(contentsOf: file), as: UTF8.self)
            }
            return (process.terminationStatus, texts[0], texts[1])
        }
    }

    @Test("A writer goes on with them", arguments: GoldenStore.all)
    func writing(golden: GoldenStore) throws {
        let disk = try DiskImage(of: POSIXFileSystem(), path("\(golden.name).cairn")).disk()
        let store = try LogStore.open(at: "/store", options: SampleStore.options(on: disk))
        let before = try SampleStore.text(store)
        var request = BatchInsertRequest(
            entityName: golden.entity, objects: [[golden.key: "NEW"]])
        request.resultType = .objectIDs
        #expect(try store.execute(request).objectIDs.count == 1)
        let after = try SampleStore.text(store)
        #expect(after.utf8.count > before.utf8.count)
        try store.close()
        #expect(try DiskImage(of: disk).content().text == after)
    }
}
