// Salvage: what is outside of the damage is kept, nothing is made up, and what is lost is said.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog

@Suite("Salvage")
struct SalvageTests {
    static let first = "0000000001.segment"

    @Test("A store that nothing is wrong with comes out as it is", arguments: GoldenStore.all)
    func golden(_ golden: GoldenStore) throws {
        let image = try golden.make()
        let salvaged = try SalvagedStore(image)
        let text = try image.content().text
        if golden.name == "migrated" || golden.name == "mapped" {
            // The new store is of the newest model from the beginning, with numbers of its own for what that names.
            #expect(salvaged.rows == SalvagedStore.rows(text))
        } else {
            #expect(salvaged.text == text)
        }
        #expect(salvaged.report.isWhole)
        #expect(salvaged.report.identifier != salvaged.report.sourceIdentifier)
        #expect(salvaged.report.possiblyResurrected == 0)
    }

    @Test(
        "The damaged golden stores give what is outside of the damage", arguments: GoldenStore.all)
    func broken(_ golden: GoldenStore) throws {
        let whole = try golden.make()
        var image = whole
        golden.harm(&image)
        var options = SalvageOptions()
        if golden.name == "ordered" {
            // Nothing there says any more what the columns are.
            #expect(throws: StoreError.self) { try SalvagedStore(image) }
            options.schema = try OrderedSample.schema()
        }
        let salvaged = try SalvagedStore(image, options: options)
        let history = try SampleStore.history(steps: 7)
        var contents = history.contents + [try whole.content().text]
        // What died with rows that are lost may come back as it was.
        if golden.name == "patched" { contents += try PatchedSample.contents() }
        salvaged.expectNothingInvented(contents, golden.name)
        switch golden.name {
        case "empty", "compressed", "ordered":
            // The segment's header, the start frame, the schema: nobody's content.
            #expect(salvaged.text == (try whole.content().text))
        case "everything":
            // One value in a column of one block.
            #expect(!salvaged.report.isWhole)
            #expect(salvaged.report.rowsLost > 0)
        default: #expect(!salvaged.report.isWhole)
        }
    }

    @Test("Each frame broken in turn loses no more than it held", arguments: [1 << 30, 6000])
    func eachFrame(segmentBytes: UInt64) throws {
        var random = RandomSource()
        let history = try SampleStore.history(steps: 7, segmentBytes: segmentBytes)
        let content = try #require(history.contents.last)
        for name in history.closed.segments {
            let bytes = history.closed.files[name] ?? []
            for frame in Campaign.sample(FrameMap(bytes).frames, oneIn: 3, using: &random) {
                guard frame.header.kind != .schema else { continue }
                for inHeader in [true, false] {
                    let start = frame.range.lowerBound
                    let range =
                        inHeader
                        ? start..<start + FrameHeader.size
                        : start + FrameHeader.size..<start + FrameHeader.size
                            + Int(frame.header.payloadLength)
                    guard !range.isEmpty else { continue }
                    var image = history.closed
                    image.files[name]![Int.random(in: range, using: &random)] ^= 0x40
                    let kind = "\(frame.header.kind!)"
                    let comment = "\(name) \(start) \(kind) \(inHeader), seed \(random.seed)"
                    let salvaged = try SalvagedStore(image)
                    salvaged.expectNothingInvented(history.contents, comment)
                    let missing = salvaged.missing(of: content)
                    switch frame.header.kind {
                    case .start, .commit, .close:
                        #expect(missing.isEmpty, "\(comment): \(missing)")
                        #expect(salvaged.text == content, "\(comment)")
                    case .block:
                        // A header that is broken alone costs nothing.
                        if inHeader { #expect(missing.isEmpty, "\(comment): \(missing)") }
                    case .deaths: #expect(missing.isEmpty, "\(comment): \(missing)")
                    default: break
                    }
                    if salvaged.report.isWhole {
                        #expect(salvaged.text == content, "\(comment): what is lost is said")
                    }
                }
            }
        }
    }

    @Test("Without one of its segments the others are kept")
    func missingSegments() throws {
        let history = try SampleStore.history(steps: 7, segmentBytes: 6000)
        let content = try #require(history.contents.last)
        #expect(history.closed.segments.count > 2)
        for name in history.closed.segments {
            var image = history.closed
            image.files[name] = nil
            let options = try SalvageOptions.withSampleSchema
            let salvaged = try SalvagedStore(image, options: options)
            salvaged.expectNothingInvented(history.contents, name)
            #expect(!salvaged.report.isWhole)
            #expect(salvaged.rows.count > 0)
            #expect(
                salvaged.report.segments.contains { $0.problem != nil }
                    || name == history.closed.segments.last)
        }
        // The newest one alone.
        var image = history.closed
        for name in history.closed.segments.dropLast() { image.files[name] = nil }
        let salvaged = try SalvagedStore(image, options: try .withSampleSchema)
        salvaged.expectNothingInvented(history.contents, "the last one")
        #expect(content.utf8.count > salvaged.text.utf8.count)
    }

    @Test("Broken segment headers cost nothing, one or all of them")
    func segmentHeaders() throws {
        let history = try SampleStore.history(steps: 7, segmentBytes: 6000)
        var all = history.closed
        for name in history.closed.segments {
            var image = history.closed
            image.files[name]![40] ^= 1
            all.files[name]![40] ^= 1
            let salvaged = try SalvagedStore(image)
            #expect(salvaged.text == history.contents.last, "\(name)")
            #expect(salvaged.report.isWhole)
            #expect(salvaged.report.segments.contains { $0.problem != nil })
        }
        let salvaged = try SalvagedStore(all)
        #expect(salvaged.text == history.contents.last)
        all.files["lock"] = nil
        #expect(try SalvagedStore(all).text == history.contents.last)
    }

    @Test("Without its only schema a store needs the model, and then is whole")
    func schema() throws {
        let history = try SampleStore.history(steps: 7)
        var image = history.closed
        let frame = try #require(
            FrameMap(image.files[Self.first]!).frames.first { $0.header.kind == .schema })
        image.files[Self.first]![frame.range.lowerBound + 100] ^= 4
        let error = #expect(throws: StoreError.self) { try SalvagedStore(image) }
        #expect(error?.message.contains("model") == true)
        let salvaged = try SalvagedStore(image, options: try .withSampleSchema)
        #expect(salvaged.text == history.contents.last)
    }

    @Test("A large value that is broken is nil, or takes its object with it if it is mandatory")
    func largeValues() throws {
        let history = try SampleStore.history(steps: 7)
        var image = history.closed
        let frame = try #require(
            FrameMap(image.files[Self.first]!).frames.first { $0.header.kind == .value })
        image.files[Self.first]![frame.range.lowerBound + 200] ^= 4
        let salvaged = try SalvagedStore(image)
        #expect(salvaged.report.valuesLost == 1)
        #expect(salvaged.report.rowsLost == 0)
        let loss = try #require(salvaged.report.losses.first { $0.kind == .value })
        #expect(loss.key == "note")
        #expect(loss.entity == "Airport")
        let row = salvaged.rows["{\"entity\":\"Airport\",\"id\":\(loss.number!)"]
        #expect(row?.contains("\"note\":null") == true)
        #expect(salvaged.missing(of: history.contents.last!).count == 1)
    }

    @Test("A deletion that is lost brings objects back, and the report says so")
    func resurrection() throws {
        let history = try SampleStore.history(steps: 7)
        var image = history.closed
        // The fourth step deletes.
        let frame = try #require(
            FrameMap(image.files[Self.first]!).frames.first {
                $0.header.kind == .deaths && $0.header.commit == 5
            })
        image.files[Self.first]![frame.range.lowerBound + 70] ^= 4
        let salvaged = try SalvagedStore(image)
        let before = SalvagedStore.rows(history.contents[3])
        let after = SalvagedStore.rows(history.contents[4])
        let deleted = before.keys.filter { after[$0] == nil }
        #expect(deleted.count == 10)
        for key in deleted { #expect(salvaged.rows[key] == before[key]) }
        #expect(salvaged.report.possiblyResurrected >= deleted.count)
        #expect(salvaged.missing(of: history.contents.last!).isEmpty)
        #expect(!salvaged.report.isWhole)
    }

    /// Things with a unique code and a mandatory text; owners of them.
    static let things: ManagedObjectModel = {
        var thing = EntityDescription(
            "Thing",
            attributes: [
                .init("code", .string, optional: false), .init("text", .string, optional: false),
            ], uniquenessConstraints: [["code"]])
        thing.relationships = [RelationshipDescription("owner", to: "Owner", inverse: "things")]
        var owner = EntityDescription("Owner", attributes: [.init("name", .string)])
        owner.relationships = [
            RelationshipDescription("things", to: "Thing", toMany: true, inverse: "owner")
        ]
        return ManagedObjectModel(entities: [thing, owner])
    }()

    private func insert(_ store: LogStore, _ codes: [String], text: String = "x") throws {
        var request = BatchInsertRequest(
            entityName: "Thing", objects: codes.map { ["code": $0, "text": text] as [String: Any] })
        request.mergePolicy = .mergeByPropertyObjectTrump
        _ = try store.execute(request)
    }

    private func delete(_ store: LogStore, code: String) throws {
        let entity = try #require(store.schema.entity(named: "Thing"))
        _ = try store.execute(
            BatchDeleteRequest(
                .fetch(
                    StoreFetch(
                        entity: entity.index,
                        predicate: .compare("code", .equal, .string(code))))))
    }

    private func thingStore(_ body: (LogStore) throws -> Void) throws -> DiskImage {
        let disk = MemoryFileSystem()
        let store = try LogStore.open(
            at: "/store", schema: try Schema(Self.things), options: SampleStore.options(on: disk))
        try body(store)
        try store.close()
        return try DiskImage(of: disk)
    }

    @Test("Of two objects with one key the newer one is kept, and the other reported")
    func duplicates() throws {
        var image = try thingStore { store in
            try insert(store, ["a", "b"], text: "old")
            try delete(store, code: "a")
            try insert(store, ["a", "c"], text: "new")
        }
        let frame = try #require(
            FrameMap(image.files[Self.first]!).frames.first { $0.header.kind == .deaths })
        image.files[Self.first]![frame.range.lowerBound + 70] ^= 4
        let salvaged = try SalvagedStore(image)
        #expect(salvaged.report.duplicates == 1)
        #expect(salvaged.report.losses.first { $0.kind == .duplicate }?.number == 1)
        #expect(salvaged.rows.count == 3)
        #expect(salvaged.rows["{\"entity\":\"Thing\",\"id\":1"] == nil)
        #expect(salvaged.rows["{\"entity\":\"Thing\",\"id\":3"]?.contains("new") == true)
    }

    @Test("An update whose new rows are lost leaves the old ones")
    func olderVersions() throws {
        var image = try thingStore { store in
            try insert(store, ["a", "b"], text: "old")
            try insert(store, ["b", "c"], text: String(repeating: "new ", count: 2000))
        }
        // The value frames of the second commit.
        let map = FrameMap(image.files[Self.first]!)
        for frame in map.frames where frame.header.kind == .value {
            image.files[Self.first]![frame.range.lowerBound + 100] ^= 1
        }
        let salvaged = try SalvagedStore(image)
        #expect(salvaged.rows.count == 2)
        #expect(salvaged.rows["{\"entity\":\"Thing\",\"id\":2"]?.contains("old") == true)
        let things = try #require(salvaged.report.entities.first { $0.name == "Thing" })
        #expect(things.older == 1)
        #expect(things.lost == 1)
        #expect(salvaged.report.losses.first { $0.kind == .row }?.key == "text")
    }

    @Test("References to objects that are lost are cleared and counted")
    func references() throws {
        let history = try SampleStore.history(steps: 7)
        var image = history.closed
        let country = try #require(SampleStore.schema().entity(named: "Country")).index + 1
        let bytes = image.files[Self.first]!
        let frame = try #require(
            FrameMap(bytes).frames.first {
                $0.header.kind == .block
                    && Int(bytes[$0.range.lowerBound + FrameHeader.size]) == country
            })
        // Head and all, so that nobody knows whose it was.
        for offset in 0..<80 { image.files[Self.first]![frame.range.lowerBound + offset] = 0xAA }
        let salvaged = try SalvagedStore(image)
        #expect(salvaged.report.referencesCleared == 3)
        #expect(salvaged.report.hasUnknownLosses)
        #expect(salvaged.report.entities.first { $0.name == "Country" }?.kept == 0)
        #expect(salvaged.touched.count == 3)
        salvaged.expectNothingInvented(history.contents, "without countries")
    }

    @Test("A torn tail is no loss, and is taken only where that is asked for")
    func tail() throws {
        let disk = MemoryFileSystem()
        let store = try LogStore.open(
            at: "/store", schema: try Schema(Self.things),
            options: SampleStore.options(on: disk, durability: .relaxed))
        defer { try? store.close() }
        for code in ["a", "b", "c"] { try insert(store, [code]) }
        // Nothing vouches for any of them. The second one is torn.
        var image = try DiskImage(of: disk)
        let frame = try #require(
            FrameMap(image.files[Self.first]!).frames.first { $0.header.commit == 3 })
        image.files[Self.first]![frame.range.lowerBound + 60] ^= 1
        let opened = try image.content()
        let salvaged = try SalvagedStore(image)
        #expect(salvaged.text == opened.text)
        #expect(salvaged.rows.count == 1)
        #expect(salvaged.report.isWhole)
        #expect(salvaged.report.bytesLeftBehind == opened.recovery.bytesLeftBehind)
        #expect(salvaged.report.unpromisedCommits == 1)
        var options = SalvageOptions()
        options.takesUnpromised = true
        let all = try SalvagedStore(image, options: options)
        #expect(all.rows.keys.sorted().map { $0.suffix(1) } == ["1", "3"])
    }

    @Test("Numbers go on where they were, and the old identity is kept where that is asked for")
    func identity() throws {
        let image = try SampleStore.history(steps: 7).closed
        let disk = try image.disk()
        var options = SalvageOptions()
        options.store = SampleStore.options(on: disk)
        options.keepsIdentifier = true
        let report = try LogStore.salvage(at: "/store", to: "/new", options: options)
        #expect(report.identifier == SampleStore.identifier)
        func next(_ path: String) throws -> [ObjectID] {
            let store = try LogStore.open(at: path, options: options.store)
            defer { try? store.close() }
            return try store.obtainPermanentIDs(
                forEntities: store.schema.entities.map(\.index))
        }
        #expect(try next("/store") == next("/new"))
    }

    @Test("Nothing that is there is written over")
    func destination() throws {
        let disk = try SampleStore.history(steps: 2).closed.disk()
        var options = SalvageOptions()
        options.store = SampleStore.options(on: disk)
        for path in ["/store", "/store/new"] {
            let error = #expect(throws: StoreError.self) {
                try LogStore.salvage(at: "/store", to: path, options: options)
            }
            #expect(error?.code == .openFailed)
        }
        try disk.makeDirectory("/there")
        #expect(throws: StoreError.self) {
            try LogStore.salvage(at: "/store", to: "/there", options: options)
        }
        #expect(throws: StoreError.self) {
            try LogStore.salvage(at: "/nowhere", to: "/new", options: options)
        }
        #expect(try !disk.exists("/new"))
    }

    @Test("A new store that cannot be finished is taken away")
    func failure() throws {
        let image = try SampleStore.history(steps: 7).closed
        for number in 1..<40 {
            let base = try image.disk()
            let disk = FaultInjectingFileSystem(over: base)
            disk.fail(.write, number: number, with: .noSpace)
            var options = SalvageOptions()
            options.store = SampleStore.options(on: disk)
            do {
                _ = try LogStore.salvage(at: "/store", to: "/new", options: options)
            } catch {
                #expect(error.code == .noSpace)
                #expect(try !base.exists("/new"))
                // For good: a part of a store would be taken for all that was left.
                let last = disk.history.filter { $0.operation != .unlock }.suffix(2)
                #expect(last.map(\.operation) == [.removeDirectory, .syncDirectory])
                #expect(last.last?.path == "/")
                continue
            }
            #expect(number > 2)
            #expect(try DiskImage(of: base) == image)
            return
        }
    }

    @Test("The power fails at any call: there is no new store, or all of it")
    func powerFails() throws {
        var random = RandomSource()
        let damaged: FilePath = "/damaged"
        let history = try SampleStore.history(steps: 7)
        let disk = PowerLossDisk()
        try history.closed.write(to: disk, damaged)
        var options = SalvageOptions()
        options.store = SampleStore.options(on: disk)
        _ = try LogStore.salvage(at: "\(damaged)", to: "/store", options: options)
        var refusals = 0
        try Interruption.ofPower(disk, oneIn: 1, images: (2, 200), using: &random) {
            image, isDone, what in
            for isReadOnly in [true, false] {
                var options = SampleStore.options(on: try image?.disk() ?? MemoryFileSystem())
                options.isReadOnly = isReadOnly
                options.createsIfMissing = false
                do {
                    let store = try LogStore.open(at: "/store", options: options)
                    let text = try SampleStore.text(store)
                    #expect(text == history.contents.last, "\(what): a part of it")
                    try store.close()
                } catch {
                    #expect((error as? StoreError)?.code == .openFailed, "\(what): \(error)")
                    #expect(!isDone, "\(what): it was finished")
                    refusals += 1
                }
            }
        }
        #expect(refusals > 0)
    }

    @Test("It waits for nobody who has the store open to write, and changes nothing then")
    func beside() throws {
        let disk = try SampleStore.history(steps: 7).closed.disk()
        var options = SalvageOptions()
        options.store = SampleStore.options(on: disk)
        let store = try LogStore.open(at: "/store", options: options.store)
        let before = try DiskImage(of: disk)
        let error = try #require(throws: StoreError.self) {
            try LogStore.salvage(at: "/store", to: "/new", options: options)
        }
        #expect(error.code == .storeInUse)
        #expect(try DiskImage(of: disk) == before)
        try store.close()
        var reading = options.store
        reading.isReadOnly = true
        let reader = try LogStore.open(at: "/store", options: reading)
        #expect(try LogStore.salvage(at: "/store", to: "/new", options: options).isWhole)
        try reader.close()
        // Nothing of it stays locked.
        try LogStore.open(at: "/store", options: options.store).close()
    }

    @Test("Places that the disk cannot read are lost alone")
    func unreadable() throws {
        let image = try SampleStore.history(steps: 7).closed
        let base = try image.disk()
        let disk = FaultInjectingFileSystem(over: base)
        disk.fail(.read, number: 3, of: Self.first, with: .ioError)
        var options = SalvageOptions()
        options.store = SampleStore.options(on: disk)
        let report = try LogStore.salvage(at: "/store", to: "/new", options: options)
        #expect(report.rowsKept > 0)
    }
}

extension SalvageOptions {
    /// With the model of the sample.
    static var withSampleSchema: SalvageOptions {
        get throws {
            var options = SalvageOptions()
            options.schema = try SampleStore.schema()
            return options
        }
    }
}
