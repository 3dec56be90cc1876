// What tests of staged values share.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import Foundation
import SystemPackage
import Testing

@testable import CairnLog

enum StagedStores {
    /// Stages a value in chunks of a size.
    static func stage(_ store: LogStore, _ value: Data, for id: ObjectID, chunk: Int = 300_000)
        throws -> StagedValue
    {
        let writer = try #require(
            try store.beginValue(column: column("plan"), of: id, entity: airport))
        try write(value, to: writer, chunk: chunk)
        return try writer.finish()
    }

    static func write(_ value: Data, to writer: any ValueStaging, chunk: Int) throws {
        var rest = value
        while !rest.isEmpty {
            try rest.prefix(chunk).withUnsafeBytes { try writer.append($0) }
            rest = rest.dropFirst(chunk)
        }
    }

    static let airport = 0

    static func column(_ name: String) throws -> Int {
        try #require(try SampleStore.schema().entities[airport].columnIndex(named: name))
    }

    static func newID(_ store: LogStore) throws -> ObjectID {
        try store.obtainPermanentIDs(forEntities: [airport])[0]
    }

    /// A save of new airports.
    static func request(_ airports: [(code: String, id: ObjectID, plan: Value)]) throws
        -> SaveRequest
    {
        let columns = try SampleStore.schema().entities[airport].columns.count
        var request = SaveRequest()
        for airport in airports {
            var values = [Value](repeating: .null, count: columns)
            values[try column("code")] = .string(airport.code)
            values[try column("plan")] = airport.plan
            request.inserted.append(
                .init(
                    id: airport.id, entity: Self.airport, values: values,
                    assigned: [try column("code"), try column("plan")]))
        }
        request.hasStagedValues = true
        return request
    }

    @discardableResult
    static func save(_ store: LogStore, _ airports: [(String, ObjectID, StagedValue)]) throws
        -> SaveResult
    {
        let request = try request(
            airports.map { (code: $0.0, id: $0.1, plan: .binary($0.2.standIn)) })
        guard case .saved(let result) = try store.save(request) else {
            throw StoreError(.mergeConflict, "the save has conflicts")
        }
        return result
    }

    /// The plan of an airport; nil if it has none.
    static func plan(_ store: LogStore, _ id: ObjectID) throws -> Data? {
        let row = try #require(try store.snapshot().rows([id])[0])
        let entity = store.schema.entities[row.entity]
        let value = row.cells.value(try column("plan"), of: entity, in: store.identity)
        let stream = try store.snapshot().valueStream(forKey: "plan", of: id)
        var streamed = Data()
        try stream?.forEachChunk {
            streamed.append($0)
            return true
        }
        guard case .binary(let data) = value else { return nil }
        #expect(streamed == data)
        return data
    }

    /// The numbers of the side segments in the folder, and their sizes.
    static func sides(_ disk: any FileSystem) throws -> [UInt32: UInt64] {
        var sides: [UInt32: UInt64] = [:]
        for name in try disk.list("/store") {
            guard let number = SegmentName.number(in: name) else { continue }
            let file = try disk.open(FilePath("/store").appending(name), .read)
            let head = RawBytes(count: SegmentHeader.size)
            guard try file.read(into: head.mutable, at: 0) == SegmentHeader.size else { continue }
            if head.bytes[12] == 2 { sides[number] = try file.size() }
        }
        return sides
    }
}
