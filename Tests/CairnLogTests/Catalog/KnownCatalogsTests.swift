// What schema frames say is kept by their bytes, and never found under others.

import CairnModel
import Testing

@testable import CairnLog

@Suite("Catalogs that are known by the bytes of their frames")
struct KnownCatalogsTests {
    private static func document(_ name: String) throws -> [UInt8] {
        let entity = EntityDescription(name, attributes: [.init("text", .string)])
        return try CatalogDocument.encode(
            Catalog(new: Schema(ManagedObjectModel(entities: [entity]))))
    }

    /// Counts what is read.
    private final class Reading {
        let known = KnownCatalogs()
        var count = 0

        func read(_ bytes: [UInt8]) throws -> Catalog {
            try bytes.withUnsafeBytes { payload in
                try known.catalog(payload) { payload in
                    count += 1
                    return try CatalogDocument.decodeAny(payload)
                }
            }
        }
    }

    @Test("The same bytes are read once, others by themselves")
    func sameBytes() throws {
        let reading = Reading()
        let first = try reading.read(try Self.document("A"))
        let again = try reading.read(try Self.document("A"))
        #expect(first === again)
        #expect(reading.count == 1)
        let other = try reading.read(try Self.document("B"))
        #expect(other.entities[0].name == "B")
        #expect(reading.count == 2)
    }

    @Test("Those that were asked for last are kept")
    func last() throws {
        let reading = Reading()
        for index in 0..<8 { _ = try reading.read(try Self.document("E\(index)")) }
        _ = try reading.read(try Self.document("E0"))
        #expect(reading.count == 8)
        _ = try reading.read(try Self.document("E8"))
        _ = try reading.read(try Self.document("E0"))
        #expect(reading.count == 9)
        _ = try reading.read(try Self.document("E1"))
        #expect(reading.count == 10)
    }

    @Test("What cannot be read is not kept, and a frame that is too long neither")
    func notKept() throws {
        let reading = Reading()
        for _ in 0..<2 {
            #expect(throws: (any Error).self) { _ = try reading.read([1, 2, 3]) }
        }
        #expect(reading.count == 2)
        let long = try Self.document("A") + Array(repeating: UInt8(ascii: " "), count: 256 << 10)
        for _ in 0..<2 { _ = try reading.read(long) }
        #expect(reading.count == 4)
    }
}
