// What a store has, as what pictures are made of.

import CairnLog
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnPictures
@testable import CairnTool

@Suite("Pictures of stores")
struct StorePictureTests {
    private func filled(_ work: borrowing Workplace) throws {
        for (index, code) in ["a", "b", "c"].enumerated() {
            let list = (0..<200).map { #"{"code":"\#(code)\#($0)","size":\#(index)}"# }
            #expect(
                try work.importing("\(code).json", "[\(list.joined(separator: ","))]").code == 0)
        }
        #expect(cairn("delete", work.store, "Thing", "--where", "size == 1").code == 0)
    }

    @Test("a treemap has as many bytes as the files, and those of indexes in memory")
    func space() throws {
        let work = try Workplace()
        try filled(work)
        let store = try LogStore.open(at: work.store)
        defer { try? store.close() }
        let map = try SpacePicture.treemap(of: store, at: work.store)
        let parts = map.groups.flatMap(\.parts)
        let space = try store.space()
        let files =
            space.segments.reduce(0) { $0 + $1.bytes }
            + (try LogStore.status(at: work.store).checkpoints.reduce(0) { $0 + UInt64($1.bytes) })
        let memory = parts.filter { $0.kind == .memory }.reduce(0) { $0 + $1.bytes }
        #expect(memory == space.indexes.reduce(0) { $0 + $1.memoryBytes })
        let drawn = parts.filter { $0.kind != .memory }.reduce(0) { $0 + $1.bytes }
        // Each part is rounded by itself.
        #expect(drawn <= files + 64 && files <= drawn + 64, "\(drawn) of \(files)")
        #expect(parts.contains { $0.kind == .dead })
        #expect(map.groups.first?.entity == "Thing")
        #expect(map.groups.first?.parts.compactMap(\.property) == ["code", "size"])
    }

    @Test("the commits are those of the files, with their counts")
    func commits() throws {
        let work = try Workplace()
        try filled(work)
        let commits = try CommitPicture.timeline(at: work.store, nil).commits
        let last = try LogStore.status(at: work.store)
        #expect(commits.last?.number == last.commit)
        #expect(
            commits.last?.time == last.lastCommitTime?.timeIntervalSinceReferenceDate)
        #expect(commits.map(\.inserted).filter { $0 > 0 } == [200, 200, 200])
        #expect(commits.map(\.deleted).filter { $0 > 0 } == [200])
        #expect(commits.map(\.number) == commits.map(\.number).sorted())
    }

    @Test("behind a damaged header the other commits are found")
    func damagedCommits() throws {
        let work = try Workplace()
        try filled(work)
        let whole = try CommitPicture.timeline(at: work.store, nil).commits.map(\.number)
        let frames = try cairn("frames", work.store, "--json").json.filter {
            $0["kind"] as? String == "commit"
        }
        let victim = try #require(frames.dropFirst().first)
        let segment = try #require(Int(victim, "segment"))
        let number = String(segment)
        let name = String(repeating: "0", count: 10 - number.count) + "\(number).segment"
        let file = URL(fileURLWithPath: "\(work.store)/\(name)")
        var bytes = try Data(contentsOf: file)
        bytes[try #require(Int(victim, "offset")) + 4] ^= 0xFF
        try bytes.write(to: file)
        let left = try CommitPicture.timeline(at: work.store, nil).commits.map(\.number)
        let lost = UInt64(try #require(Int(victim, "commit")))
        #expect(left == whole.filter { $0 != lost })
    }

    @Test("the history knows commits that no file has any more")
    func compacted() throws {
        let work = try Workplace()
        try work.importing("1.json", #"[{"code":"z","size":9}]"#)
        #expect(cairn("history", work.store, "--keep").code == 0)
        try filled(work)
        let before = try CommitPicture.timeline(at: work.store, nil).commits
        #expect(cairn("compact", work.store).code == 0)
        let store = try LogStore.open(at: work.store)
        defer { try? store.close() }
        let after = try CommitPicture.timeline(at: work.store, store).commits
        let counts = { (commits: [CommitTimeline.Commit]) in
            Dictionary(
                commits.filter { $0.inserted == 200 || $0.deleted == 200 }
                    .map { ($0.number, [$0.inserted, $0.updated, $0.deleted]) },
                uniquingKeysWith: { first, _ in first })
        }
        #expect(counts(after) == counts(before))
        #expect(Set(after.map(\.number)).count == after.count)
    }

    @Test("a strip has every segment and checkpoint, and what is alive of those")
    func strip() throws {
        let work = try Workplace()
        try filled(work)
        let store = try LogStore.open(at: work.store)
        let alive = try LogPicture.strip(of: work.store, store, damage: [1: "a checksum"])
        try store.close()
        #expect(alive.picture().summary.contains("alive"))
        #expect(alive.picture().summary.hasSuffix("Damaged: 1."))
        let asleep = try LogPicture.strip(of: work.store, nil)
        #expect(!asleep.picture().summary.contains("alive"))
    }

    @Test("a model differs from another version in what was added, removed and changed")
    func comparison() throws {
        func model(_ text: String) throws -> ManagedObjectModel {
            try ManagedObjectModel(json: text)
        }
        let older = try model(
            """
            {"entities": [{"name": "Kept", "attributes": [{"name": "same", "type": "string"},
              {"name": "other", "type": "string"}, {"name": "gone", "type": "string"}]},
              {"name": "Same", "attributes": [{"name": "x", "type": "date"}]}, {"name": "Gone"}]}
            """)
        let newer = try model(
            """
            {"entities": [{"name": "Kept", "attributes": [{"name": "same", "type": "string"},
              {"name": "other", "type": "date"}, {"name": "new", "type": "string"}],
              "uniquenessConstraints": [["same"]]},
              {"name": "Same", "attributes": [{"name": "x", "type": "date"}]}, {"name": "New"}]}
            """)
        let diagram = ModelPicture.diagram(of: newer, against: older, named: "version 1")
        #expect(diagram.entities.map(\.name) == ["Kept", "Same", "New", "Gone"])
        #expect(diagram.entities.map(\.change) == [.changed, nil, .added, .removed])
        let kept = diagram.entities[0]
        #expect(kept.attributes.map(\.name) == ["same", "other", "new", "gone"])
        #expect(kept.attributes.map(\.change) == [nil, .changed, .added, .removed])
        #expect(kept.attributes[1].remark?.contains("before: ") == true)
        #expect(kept.attributes[0].isKey)
        #expect(kept.rules.map(\.change) == [.added])
        let same = ModelPicture.diagram(of: newer, against: newer)
        #expect(same.entities.allSatisfy { $0.change == nil })
    }

    @Test("cairn model --svg draws a model, and what differs from another")
    func drawn() throws {
        let work = try Workplace()
        let older = try work.list(
            "older.json", #"{"entities": [{"name": "Kept"}, {"name": "Gone"}]}"#)
        let newer = try work.list(
            "newer.json", #"{"entities": [{"name": "Kept"}, {"name": "New"}]}"#)
        let alone = cairn("model", older, "--svg")
        #expect(alone.code == 0, "\(alone.errors)")
        #expect(alone.output.hasPrefix("<svg ") && alone.output.contains(">Gone</text>"))
        let both = cairn("model", older, "--to", newer, "--svg")
        #expect(both.code == 0, "\(both.errors)")
        for text in ["− Gone", "+ New"] { #expect(both.output.contains(">\(text)</text>")) }
    }

    @Test("every model of the corpus can be drawn", .enabled(if: Corpus.isAvailable))
    func corpus() throws {
        Corpus.noteUse()
        let folder = Corpus.url("xcdatamodel")
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        where name.hasSuffix(".xml") {
            let source = try ModelSource.read(
                folder.appendingPathComponent(name).path, version: nil)
            let picture = ModelPicture.diagram(of: source.model).picture()
            let svg = picture.svg(in: .page)
            for entity in source.model.entities {
                #expect(svg.contains("data-entity=\"\(entity.name)\""), "\(name): \(entity.name)")
            }
        }
    }
}
