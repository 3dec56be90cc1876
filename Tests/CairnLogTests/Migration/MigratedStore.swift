// A store on a disk in memory that follows one model after the other, and what is in it.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog
@testable import CairnMigration

/// A store that is opened with one model after the other.
struct MigratedStore {
    let disk: any FileSystem

    init(on disk: any FileSystem = MemoryFileSystem()) { self.disk = disk }

    /// What a store holds: by entity and number the values by name, to-many relationships as lists of numbers.
    typealias Content = [String: [UInt64: [String: Value]]]

    var options: LogStoreOptions {
        var options = SampleStore.options(on: disk, segmentBytes: 64 << 10)
        options.sizes.rowsPerBlock = 64
        options.sizes.mergedBlocks = 4
        options.sizes.askedCompactionFloor = 1
        let scheduler = ManualScheduler()
        options.makeScheduler = { scheduler }
        return options
    }

    static func model(_ entities: EntityDescription...) -> ManagedObjectModel {
        ManagedObjectModel(entities: entities)
    }

    static func entity(
        _ name: String, under parent: String? = nil, was: String? = nil,
        _ attributes: [AttributeDescription] = [],
        _ relationships: [RelationshipDescription] = [], unique: [[String]] = []
    ) -> EntityDescription {
        var entity = EntityDescription(
            name, attributes: attributes, relationships: relationships)
        entity.superentityName = parent
        entity.renamingIdentifier = was
        entity.uniquenessConstraints = unique
        return entity
    }

    func open(
        _ model: ManagedObjectModel?, _ change: (inout LogStoreOptions) -> Void = { _ in }
    ) throws -> LogStore {
        var options = options
        change(&options)
        return try LogStore.open(
            at: "/store", schema: try model.map { try Schema($0) }, options: options)
    }

    /// Opens it, lets a closure write, and closes it.
    func with<R>(_ model: ManagedObjectModel?, _ body: (LogStore) throws -> R) throws -> R {
        let store = try open(model)
        defer { try? store.close() }
        return try body(store)
    }

    @discardableResult
    func migrate(
        to model: ManagedObjectModel, _ change: (inout LogStoreOptions) -> Void = { _ in }
    ) throws -> MigrationReport {
        var options = options
        change(&options)
        return try LogStore.migrate(at: "/store", to: try Schema(model), options: options)
    }

    /// Removes the checkpoints of the closed store, so that the log alone counts.
    func removeCheckpoints() throws {
        for name in try disk.list("/store") where name.hasPrefix("checkpoint") {
            try disk.unlink(FilePath("/store").appending(name))
        }
    }

    /// What a store holds.
    static func content(_ store: LogStore) throws -> Content {
        let schema = store.schema
        let snapshot = try store.snapshot()
        var content: Content = [:]
        for entity in schema.entities where !entity.isAbstract {
            var fetch = StoreFetch(entity: entity.index)
            fetch.includesSubentities = false
            fetch.includesRows = true
            let found = try snapshot.fetch(fetch)
            var objects: [UInt64: [String: Value]] = [:]
            for (id, row) in zip(found.ids, found.rows) {
                var values: [String: Value] = [:]
                for (index, column) in entity.columns.enumerated() {
                    values[column.name] = row.cells.value(index, of: entity, in: store.identity)
                    if case .objectID(let id) = values[column.name] {
                        values[column.name] = .integer(Int64(id.reference))
                    }
                }
                objects[id.reference] = values
            }
            for (index, relationship) in entity.relationships.enumerated()
            where relationship.description.isToMany && relationship.storage != .transient {
                let members = try snapshot.members(
                    ofRelationship: index, entity: entity.index, owners: found.ids)
                for (id, members) in zip(found.ids, members) {
                    objects[id.reference]?[relationship.description.name] = .string(
                        members.map { "\($0.reference)" }.joined(separator: " "))
                }
            }
            content[entity.name] = objects
        }
        return content
    }

    /// What it holds as it is opened in every way: with its checkpoint, without, and after compaction; whole in each.
    func check(_ expected: Content?, _ model: ManagedObjectModel, _ place: Comment? = nil) throws
        -> Content
    {
        func look(_ way: String) throws -> Content {
            let store = try open(model)
            let content = try Self.content(store)
            let findings = try store.check().findings
            #expect(findings.isEmpty, "\(way): \(findings)")
            try store.close()
            let report = try LogStore.check(at: "/store", depth: .all, options: options)
            #expect(report.findings.isEmpty, "\(way): \(report.findings)")
            return content
        }
        let first = try look("as it is")
        if let expected { #expect(first == expected, place) }
        try removeCheckpoints()
        #expect(try look("without its checkpoint") == first, place)
        try with(model) { _ = try $0.compact() }
        #expect(try look("after compaction") == first, place)
        try removeCheckpoints()
        #expect(try look("after compaction, without its checkpoint") == first, place)
        return first
    }
}
