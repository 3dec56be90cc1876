import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog

@Suite("Parts of a store that are missing or of another one")
struct MissingPartTests {
    static func history() throws -> (contents: [String], images: [DiskImage], closed: DiskImage) {
        try SampleStore.history(segmentBytes: 5000)
    }

    static func expectDamage(_ image: DiskImage, _ what: String) throws {
        let error = #expect(throws: StoreError.self, "\(what)") { try image.content() }
        #expect(error?.code == .damaged, "\(what): \(String(describing: error))")
        #expect(error?.context.segment != nil, "\(what)")
        let disk = try image.disk()
        let again = #expect(throws: StoreError.self) {
            try LogStore.open(
                at: "/store", schema: try SampleStore.schema(),
                options: SampleStore.options(on: disk))
        }
        #expect(again?.code == .damaged, "\(what)")
        #expect(try DiskImage(of: disk) == image, "\(what)")
    }

    @Test("A segment that is missing is named")
    func segments() throws {
        let closed = try Self.history().closed
        for name in closed.segments {
            var image = closed
            image.files[name] = nil
            try Self.expectDamage(image, "without \(name)")
        }
        var image = closed
        for name in closed.segments { image.files[name] = nil }
        try Self.expectDamage(image, "without segments")
        image = closed
        for name in closed.segments { image.files[name] = [] }
        try Self.expectDamage(image, "with empty segments")
    }

    @Test("A segment in the place of another is damage")
    func exchanged() throws {
        let closed = try Self.history().closed
        let names = closed.segments
        for (name, other) in zip(names, names.dropFirst()) {
            var image = closed
            image.files[name] = closed.files[other]
            try Self.expectDamage(image, "\(other) as \(name)")
        }
    }

    @Test("A segment of another store is damage")
    func foreign() throws {
        let closed = try Self.history().closed
        let disk = MemoryFileSystem()
        var options = SampleStore.options(on: disk, segmentBytes: 5000)
        options.storeIdentifier = UUID()
        let store = try LogStore.open(
            at: "/store", schema: try SampleStore.schema(), options: options)
        for step in SampleStore.steps { try step(store) }
        try store.close()
        let other = try DiskImage(of: disk)
        for name in closed.segments.dropLast() {
            var image = closed
            image.files[name] = other.files[name]
            try Self.expectDamage(image, "another store's \(name)")
        }
    }

    @Test("An older state of the last segment is damage if the mark is newer")
    func older() throws {
        let history = try SampleStore.history()
        for older in history.images.dropLast() {
            var image = older
            image.files["lock"] = history.closed.files["lock"]
            try Self.expectDamage(image, "an older copy")
        }
    }

    @Test("A folder without its lock file, or with other files, is refused for what it is")
    func folders() throws {
        let closed = try Self.history().closed
        var image = closed
        image.files["lock"] = nil
        var error = #expect(throws: StoreError.self) { try image.content() }
        #expect(error?.code == .openFailed)
        let disk = MemoryFileSystem()
        try disk.makeDirectory("/store")
        _ = try disk.open("/store/letter.txt", .create)
        error = #expect(throws: StoreError.self) {
            try LogStore.open(
                at: "/store", schema: try SampleStore.schema(),
                options: SampleStore.options(on: disk))
        }
        #expect(error?.code == .openFailed)
        #expect(error?.message == "the folder is not empty and contains no store")
        #expect(try disk.list("/store") == ["letter.txt"])
    }

    @Test("A format version or a feature that is unknown is named, and nothing is changed")
    func unknownFeatures() throws {
        let history = try SampleStore.history(steps: 1)
        let name = "0000000001.segment"
        for (offset, rule) in [(8, "F-205"), (80, "F-208")] {
            var image = history.closed
            image.files[name]![offset] ^= 4
            image.sealHeader(name)
            let error = #expect(throws: StoreError.self) { try image.content() }
            #expect(error?.code == .openFailed)
            #expect(error?.message.contains(rule) == true)
        }
        // A feature that forbids writing only.
        var image = history.closed
        image.files[name]![72] ^= 1
        image.sealHeader(name)
        let disk = try image.disk()
        let error = #expect(throws: StoreError.self) {
            try LogStore.open(at: "/store", options: SampleStore.options(on: disk))
        }
        #expect(error != nil)
        #expect(try DiskImage(of: disk) == image)
    }
}
