// Every sync of a migration: what the order checker says of them, and what a power cut before each call leaves.

import CairnFileSystem
import CairnFormat
import CairnMigration
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog

@Suite("Every sync of a migration")
struct MigrationSyncTests {
    enum Kind: Sendable, CaseIterable {
        case inferred, mapped
    }

    /// A store of the first model of the sample, closed and whole on the medium.
    private struct Sample {
        let kind: Kind
        let start: DiskState
        var old: MigratedStore.Content = [:]
        var new: MigratedStore.Content = [:]

        init(_ kind: Kind) throws {
            self.kind = kind
            let disk = SimulatedDisk(seed: 1)
            let old = try MigratedStore(on: disk).with(MigratedSample.models[0]) { log in
                try MigratedSample.fill(log, version: 0)
                return try MigratedStore.content(log)
            }
            start = disk.with { contents in
                for file in contents.state.files.indices { contents.state.sync(file) }
                return contents.state
            }
            self.old = old
            let honest = SimulatedDisk(start, seed: 1)
            try migrate(honest)
            new = try MigratedStore(on: honest).with(nil) { try MigratedStore.content($0) }
        }

        func migrate(_ disk: SimulatedDisk) throws {
            switch kind {
            case .inferred: try MigratedStore(on: disk).migrate(to: MigratedSample.models[1])
            case .mapped: try map(try DiskWithFolder(disk))
            }
        }

        /// A mapping that keeps the tags, and makes an article of each.
        private func map(_ disk: DiskWithFolder) throws {
            let schema = try Schema(MigratedSample.models[1])
            let migration = try LogStore.beginMigration(
                at: "/store", to: schema, options: MigratedStore(on: disk).options)
            func insert(_ entity: String, _ rows: [[String: Any]]) throws -> [UInt32] {
                var request = BatchInsertRequest(entityName: entity, objects: rows)
                request.resultType = .objectIDs
                return try migration.destination.execute(request).objectIDs.map {
                    UInt32(truncatingIfNeeded: $0.reference)
                }
            }
            let tags = try insert("Tag", (0..<5).map { ["label": "tag \($0)"] })
            let text = String(repeating: "long ", count: 300)
            _ = try insert("Article", (0..<5).map { ["key": "k\($0)", "note": text] })
            let source = try #require(migration.source.schema.entity(named: "Tag"))
            let destination = try #require(schema.entity(named: "Tag"))
            try migration.finish([
                ObjectSuccession(
                    sourceEntity: source.index, destinationEntity: destination.index,
                    sources: [1, 2, 3, 4, 5], destinations: tags)
            ])
        }

        /// The content that a power cut leaves; nil if it does not open, or is not whole.
        func content(_ state: DiskState, _ loss: DiskState.Loss, _ random: inout RandomSource)
            -> MigratedStore.Content?
        {
            let disk = SimulatedDisk(state.afterPowerCut(loss, &random), seed: 1)
            return try? MigratedStore(on: disk).with(nil) { log in
                try log.check().findings.isEmpty ? try MigratedStore.content(log) : nil
            }
        }
    }

    @Test(
        "None is missing, and what a migration has done stays (FS1, FS2)", arguments: Kind.allCases)
    func honest(_ kind: Kind) throws {
        var random = RandomSource("syncs of a migration")
        let sample = try Sample(kind)
        #expect(sample.old != sample.new && !sample.new.isEmpty)
        let disk = SimulatedDisk(sample.start, seed: random.next())
        disk.with { $0.records = true }
        try sample.migrate(disk)
        #expect(disk.with { $0.checker.problems } == [])
        let end = disk.with { $0.state }
        for loss in DiskState.Loss.allCases {
            #expect(sample.content(end, loss, &random) == sample.new, "seed \(random.seed)")
        }
        var (olds, news) = (0, 0)
        for point in disk.with({ $0.points }) {
            for _ in 0..<Campaign.count(1, whole: 100) {
                let loss = DiskState.Loss.allCases.randomElement(using: &random) ?? .all
                let found = sample.content(point.state, loss, &random)
                #expect(
                    found == sample.old || found == sample.new,
                    "before \(point.call), \(loss), seed \(random.seed)")
                if found == sample.old { olds += 1 } else { news += 1 }
            }
        }
        #expect(olds > 5 && news > 3)
        Campaign.report("images before each call of a \(kind) migration", olds + news)
    }

    /// But for that of a checkpoint's name: without the checkpoint the next opening takes longer, and that is all.
    @Test("One that does nothing is found out", arguments: Kind.allCases)
    func lies(_ kind: Kind) throws {
        var random = RandomSource("lying syncs of a migration")
        let sample = try Sample(kind)
        let honest = SimulatedDisk(sample.start, seed: random.next())
        try sample.migrate(honest)
        var sites = honest.with { Set($0.syncs.keys) }
        #expect(sites.isSuperset(of: [.commit, .segmentStart, .segmentName, .close, .checkpoint]))
        sites.subtract([.checkpointName, .nothing])
        for site in sites.sorted(by: { $0.rawValue < $1.rawValue }) {
            #expect(try isFound(site, sample, &random), "\(site), seed \(random.seed)")
        }
    }

    /// Whether the order of calls, or what a power cut leaves, tells of a sync that does nothing.
    private func isFound(_ site: SyncSite, _ sample: Sample, _ random: inout RandomSource) throws
        -> Bool
    {
        let disk = SimulatedDisk(sample.start, seed: random.next())
        disk.with {
            $0.lyingSites = [site]
            $0.records = true
        }
        try sample.migrate(disk)
        if disk.with({ !$0.checker.problems.isEmpty }) { return true }
        let end = disk.with { $0.state }
        for loss in DiskState.Loss.allCases
        where sample.content(end, loss, &random) != sample.new { return true }
        for point in disk.with({ $0.points }) {
            for loss in DiskState.Loss.allCases {
                let found = sample.content(point.state, loss, &random)
                if found != sample.old && found != sample.new { return true }
            }
        }
        return false
    }
}

/// A simulated disk with a folder in the store's, which lies on a disk of its own: nothing in it counts.
private final class DiskWithFolder: FileSystem {
    private let disk: SimulatedDisk
    private let inner = MemoryFileSystem()

    init(_ disk: SimulatedDisk) throws {
        self.disk = disk
        try inner.makeDirectory(SimulatedDisk.folder)
    }

    private func disk(of path: FilePath) -> any FileSystem {
        let folder = MigrationFolder(of: SimulatedDisk.folder, inner).path
        return path.starts(with: folder) ? inner : disk
    }

    func open(_ path: FilePath, _ mode: OpenMode) throws(FileSystemError) -> any File {
        try disk(of: path).open(path, mode)
    }
    func syncDirectory(_ path: FilePath) throws(FileSystemError) {
        try disk(of: path).syncDirectory(path)
    }
    func list(_ path: FilePath) throws(FileSystemError) -> [String] {
        try disk(of: path).list(path)
    }
    func unlink(_ path: FilePath) throws(FileSystemError) { try disk(of: path).unlink(path) }
    func makeDirectory(_ path: FilePath) throws(FileSystemError) {
        try disk(of: path).makeDirectory(path)
    }
    func removeDirectory(_ path: FilePath) throws(FileSystemError) {
        try disk(of: path).removeDirectory(path)
    }
    func identity(of path: FilePath) throws(FileSystemError) -> FileIdentity {
        try disk(of: path).identity(of: path)
    }
}
