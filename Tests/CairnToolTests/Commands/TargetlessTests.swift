// A dry run of a migration finds the objects that lack a required target, as the migration itself does.

import CairnModel
import CairnTestSupport
import Foundation
import Testing

@testable import CairnTool

@Suite("Targets that a migration requires")
struct TargetlessTests {
    /// What becomes of the model of the club, and whether its store can follow.
    enum Change: String, CaseIterable {
        case requiredReference, requiredOneToOne, requiredTeam
        case pairsToReference, ownInverse, oneToOne, otherSide, lostEntity

        var missing: [String] {
            switch self {
            case .requiredReference: ["Student.buddy: 1 object has no target, p5, and"]
            case .requiredOneToOne: ["Team.captain: 1 object has no target, p3, and"]
            case .pairsToReference: ["Teacher.favorites: 1 object has no target, p6, and"]
            case .oneToOne:
                // One of the three members of a team stays.
                [
                    "Student.team: 1 object has no target, p5, and",
                    "Teacher.team: 1 object has no target, p6, and",
                ]
            case .otherSide: ["Student.notes: 1 object has no target, p5, and"]
            case .requiredTeam, .ownInverse, .lostEntity: []
            }
        }

        func apply(to model: inout ManagedObjectModel) throws {
            func change(
                _ entity: String, _ name: String, _ body: (inout RelationshipDescription) -> Void
            ) throws {
                let index = try #require(model.entities.firstIndex { $0.name == entity })
                let place = try #require(
                    model.entities[index].relationships.firstIndex { $0.name == name })
                body(&model.entities[index].relationships[place])
            }
            func requireOne(_ relationship: inout RelationshipDescription) {
                relationship.isToMany = false
                relationship.isOrdered = false
                relationship.isOptional = false
            }
            switch self {
            case .requiredReference: try change("Person", "buddy") { $0.isOptional = false }
            case .requiredOneToOne: try change("Team", "captain") { $0.isOptional = false }
            case .requiredTeam: try change("Person", "team") { $0.isOptional = false }
            case .pairsToReference: try change("Person", "favorites", requireOne)
            case .ownInverse: try change("Person", "friends", requireOne)
            case .oneToOne:
                try change("Team", "members") {
                    requireOne(&$0)
                    $0.isOptional = true
                }
                try change("Person", "team") { $0.isOptional = false }
            case .otherSide:
                try change("Person", "notes", requireOne)
                try change("Note", "author") {
                    $0.isToMany = true
                    $0.isOptional = true
                }
            case .lostEntity:
                model.entities.removeAll { $0.name == "Bag" }
                try change("Person", "team") { $0.isOptional = false }
            }
        }
    }

    private static let today: [Change] = {
        var random = RandomSource("changes that leave objects without a target")
        return Campaign.sample(Change.allCases, oneIn: 2, using: &random)
    }()

    @Test("a dry run says what the migration says", arguments: today)
    func club(_ change: Change) throws {
        let work = try CoreDataWorkplace()
        let file = try ClubStore.make(work.old)
        try ClubStore.fill(file)
        file.finish()
        #expect(work.bring().code == 0)
        var model = ClubStore.model
        try change.apply(to: &model)
        let path = work.folder.path("later.json")
        try Data(try model.json().utf8).write(to: URL(fileURLWithPath: path))
        let hash = cairn("hash", work.new).output
        let dry = cairn("migrate", work.new, "--to", path, "--dry-run")
        #expect(cairn("hash", work.new).output == hash)
        let json = try cairn("migrate", work.new, "--to", path, "--dry-run", "--json").json
        let real = cairn("migrate", work.new, "--to", path)
        let lines = dry.lines.filter { $0.contains(" no target, ") }
        #expect(lines.count == change.missing.count, "\(dry.output)\(real.errors)")
        for (line, expected) in zip(lines, change.missing) {
            #expect(line.hasPrefix(expected))
            #expect(real.errors.contains(line), "\(line)\n\(real.errors)")
        }
        #expect(json.count { $0["missing"] != nil } == lines.count)
        #expect(dry.code == (change.missing.isEmpty ? 0 : 1), "\(dry.output)\(dry.errors)")
        #expect(real.code == dry.code, "\(dry.output)\(real.errors)")
    }

    @Test("bookmarks without a parent", .enabled(if: Corpus.isAvailable))
    func bookmarks() throws {
        let work = try CoreDataWorkplace()
        let path = Corpus.url("coredata-sqlite/Bookmarks_V1.sqlite").path
        #expect(run(["import-coredata", path, work.new]).code == 0)
        var model = try ManagedObjectModel(json: cairn("schema", work.new, "--json").output)
        let entity = try #require(model.entities.firstIndex { $0.name == "BookmarkEntity" })
        let parent = try #require(
            model.entities[entity].relationships.firstIndex { $0.name == "parent" })
        model.entities[entity].relationships[parent].isOptional = false
        let later = work.folder.path("later.json")
        try Data(try model.json().utf8).write(to: URL(fileURLWithPath: later))
        let dry = cairn("migrate", work.new, "--to", later, "--dry-run")
        #expect(dry.code == 1)
        let line = try #require(dry.lines.last)
        #expect(line.hasPrefix("BookmarkEntity.parent: 2 objects have no target, such as p"))
        #expect(cairn("migrate", work.new, "--to", later).errors.contains(line))
    }
}
