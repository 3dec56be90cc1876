// Stores that Core Data wrote in other people's projects, against an independent reading of each.

import CairnLog
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnCoreData
@testable import CairnTool

/// A store of the corpus.
struct CorpusCoreDataStore: CustomTestStringConvertible, Sendable {
    let name: String
    /// Its model among the corpus's models; nil if the store has the only one, or none.
    let model: String?

    var testDescription: String { name }

    static let all = [
        Self(
            name: "Bookmarks_V1",
            model: "duckduckgo+BrowserServicesKit__BookmarksModel__BookmarksModel"),
        Self(
            name: "Bookmarks_V3",
            model: "duckduckgo+BrowserServicesKit__BookmarksModel__BookmarksModel_3"),
        Self(
            name: "Bookmarks_V5",
            model: "duckduckgo+BrowserServicesKit__BookmarksModel__BookmarksModel_5"),
        Self(name: "Recipes", model: nil),
        Self(name: "SampleModel2_V2", model: nil),
        Self(name: "SampleModel_V1", model: "alemar11+CoreDataPlus__SampleModel__SampleModel"),
        Self(name: "SampleModel_V2", model: "alemar11+CoreDataPlus__SampleModel__SampleModel2"),
        Self(
            name: "SampleStore2.0", model: "carekit-apple+CareKit__CareKitStore__CareKitStore2.0"),
        Self(name: "SurfJournalModel", model: nil),
    ]

    var path: String { Corpus.url("coredata-sqlite/\(name).sqlite").path }

    /// The models of the two stores that have none, as the corpus describes them.
    static let written: [String: ManagedObjectModel] = [
        "Recipes": ManagedObjectModel(entities: [
            EntityDescription(
                "Image", attributes: [.init("image", .transformable)],
                relationships: [.init("recipe", to: "Recipe", inverse: "image")]),
            EntityDescription(
                "Ingredient",
                attributes: [
                    .init("amount", .string), .init("displayOrder", .integer16),
                    .init("name", .string),
                ], relationships: [.init("recipe", to: "Recipe", inverse: "ingredients")]),
            EntityDescription(
                "Recipe",
                attributes: [
                    .init("instructions", .string), .init("name", .string),
                    .init("overview", .string), .init("prepTime", .string),
                    .init("thumbnailImage", .transformable),
                ],
                relationships: [
                    .init("image", to: "Image", inverse: "recipe"),
                    .init("ingredients", to: "Ingredient", toMany: true, inverse: "recipe"),
                    .init("type", to: "RecipeType", inverse: "recipes"),
                ]),
            EntityDescription(
                "RecipeType", attributes: [.init("name", .string)],
                relationships: [.init("recipes", to: "Recipe", toMany: true, inverse: "type")]),
        ]),
        "SurfJournalModel": ManagedObjectModel(entities: [
            EntityDescription(
                "JournalEntry",
                attributes: [
                    .init("date", .date), .init("height", .string), .init("location", .string),
                    .init("period", .string), .init("rating", .integer16), .init("wind", .string),
                ])
        ]),
    ]
}

/// A line of CONTENT.tsv.
private struct ContentLine {
    let table: String
    /// Entities with the numbers of their objects.
    let entities: [String: Int]
    let rows: Int
    /// How many values of a column are set, and how many of these differ.
    let columns: [String: (set: Int, distinct: Int)]

    static func read(for store: String) throws -> [ContentLine] {
        let text = String(
            decoding: try Corpus.data("coredata-sqlite/CONTENT.tsv"), as: UTF8.self)
        return try text.split(separator: "\n").dropFirst().compactMap { line in
            let cells = line.split(separator: "\t", omittingEmptySubsequences: false)
            guard cells[0] == "\(store).sqlite" else { return nil }
            var entities: [String: Int] = [:]
            for part in cells[2].split(separator: ", ") {
                let words = part.split(separator: " ")
                let count: Int = try #require(Int(words[2].dropFirst()))
                entities[String(words[1])] = count
            }
            var columns: [String: (Int, Int)] = [:]
            for part in cells[5].split(separator: "; ") {
                let words = part.split(separator: " ")
                columns[String(words[0].dropLast())] = (
                    try #require(Int(words[1])), try #require(Int(words[3]))
                )
            }
            return ContentLine(
                table: String(cells[1]), entities: entities,
                rows: try #require(Int(cells[3])), columns: columns)
        }
    }
}

@Suite("Stores that Core Data wrote", .enabled(if: Corpus.isAvailable))
struct CorpusCoreDataTests {
    /// Brings a store over.
    private func bring(_ source: CorpusCoreDataStore, _ work: borrowing CoreDataWorkplace) throws
        -> ToolRun
    {
        var arguments = ["import-coredata", source.path, work.new, "--json"]
        if let model = CorpusCoreDataStore.written[source.name] {
            try Data(try model.json().utf8).write(to: URL(fileURLWithPath: work.model))
            arguments += ["--model", work.model]
        }
        return run(arguments)
    }

    /// The files of the corpus's folder: names, sizes and times.
    private func folder() throws -> [String] {
        let path = Corpus.url("coredata-sqlite").path
        return try FileManager.default.contentsOfDirectory(atPath: path).sorted().map { name in
            let known = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
            return "\(name) \(known[.size] ?? 0) \(known[.modificationDate] ?? "")"
        }
    }

    @Test("each has the content of its independent reading", arguments: CorpusCoreDataStore.all)
    func content(_ source: CorpusCoreDataStore) throws {
        Corpus.noteUse("coreDataContent_\(source.name.filter { $0 != "." })")
        let before = try folder()
        let work = try CoreDataWorkplace()
        let run = try bring(source, work)
        #expect(run.code == 0, "\(run.errors)")
        #expect(try folder().allSatisfy { before.contains($0) || $0.contains("-journal") })
        #expect(cairn("check", work.new).code == 0)
        let store = try ImportedStore(work.new)
        let lines = try ContentLine.read(for: source.name)
        #expect(!lines.isEmpty)
        for line in lines {
            if line.table.hasPrefix("A") {
                // Core Data's own history.
                let remarks = try #require(try run.json.first?["remarks"] as? [String])
                #expect(remarks.contains { $0.hasPrefix("Core Data's history") })
            } else if line.table.hasPrefix("Z_") {
                try comparePairs(line, store)
            } else {
                try compare(line, store, source.name)
            }
        }
    }

    private func compare(_ line: ContentLine, _ store: ImportedStore, _ name: String) throws {
        var rows: [Row] = []
        for (entity, count) in line.entities {
            // The primary keys' table has a name of old, see the corpus's description.
            let now = store.schema.entity(named: entity) == nil ? "LuxuryCar" : entity
            let own = try store.rows(now)
            #expect(own.count == count, "\(entity)")
            rows += own
        }
        #expect(rows.count == line.rows)
        for (column, expected) in line.columns where !column.hasPrefix("Z_") {
            // The entity of what a relationship leads to.
            if column.contains("_") { continue }
            var values: [Value] = []
            for row in rows {
                let entity = store.schema.entities[row.entity]
                guard
                    let property = entity.columns.first(where: {
                        "Z" + $0.name.uppercased() == column
                    })
                else { continue }
                let value = try store.value(row, property.name)
                if !value.isNull { values.append(value) }
            }
            #expect(values.count == expected.set, "\(line.table).\(column)")
            #expect(Set(values).count == expected.distinct, "\(line.table).\(column)")
        }
    }

    private func comparePairs(_ line: ContentLine, _ store: ImportedStore) throws {
        #expect(line.table == "Z_1FAVORITES")
        let members = try store.numbers("BookmarkEntity").map {
            try store.members("BookmarkEntity", $0, "favorites").count
        }
        #expect(members.reduce(0, +) == line.rows)
    }

    @Test("each value and each relationship is that of SQLite", arguments: CorpusCoreDataStore.all)
    func values(_ source: CorpusCoreDataStore) throws {
        Corpus.noteUse("coreDataValues_\(source.name.filter { $0 != "." })")
        let work = try CoreDataWorkplace()
        #expect(try bring(source, work).code == 0)
        let store = try ImportedStore(work.new)
        // SQLite moves a log into the file: it is asked about a copy.
        for ending in ["", "-wal"]
        where FileManager.default.fileExists(atPath: source.path + ending) {
            try Data(contentsOf: URL(fileURLWithPath: source.path + ending))
                .write(to: URL(fileURLWithPath: work.old + ending))
        }
        var compared = 0
        for root in store.schema.entities where root.parent == nil {
            let rows = try store.rows(root.name, subentities: true)
            let cells = try SQLiteRows(
                work.old, "SELECT * FROM Z\(root.name.uppercased()) ORDER BY Z_PK"
            ).rows
            #expect(rows.count == cells.count, "\(root.name)")
            for (row, cells) in zip(rows, cells) {
                #expect(cells["Z_PK"] == .integer(Int64(row.id.reference)))
                for column in store.schema.entities[row.entity].columns {
                    let cell = try #require(cells["Z" + column.name.uppercased()])
                    let value = try store.value(row, column.name)
                    #expect(
                        plain(value) == number(cell),
                        "\(root.name) p\(row.id.reference) \(column.name)")
                    compared += 1
                }
            }
        }
        #expect(compared >= 50)
    }

    /// A value as SQLite has it.
    private func plain(_ value: Value) -> SQLiteRows.Cell {
        switch value {
        case .null: .null
        case .integer(let number): .real(Double(number))
        case .boolean(let truth): .real(truth ? 1 : 0)
        case .double(let number): .real(number)
        case .float(let number): .real(Double(number))
        case .decimal(let number): .real(Double("\(number)") ?? .nan)
        case .date(let date): .real(date.timeIntervalSinceReferenceDate)
        case .string(let text): .text(text)
        case .uri(let uri): .text(uri.absoluteString)
        case .binary(let data): .blob(data)
        case .uuid(let uuid): .blob(withUnsafeBytes(of: uuid.uuid) { Data($0) })
        case .objectID(let id): .real(Double(id.reference))
        }
    }

    private func number(_ cell: SQLiteRows.Cell) -> SQLiteRows.Cell {
        if case .integer(let number) = cell { return .real(Double(number)) }
        // No attribute of these stores keeps its values in files.
        return cell
    }

    @Test(
        "the model in a store is the one that its project has in a file",
        arguments: CorpusCoreDataStore.all.filter { $0.model != nil })
    func models(_ source: CorpusCoreDataStore) throws {
        Corpus.noteUse("coreDataModels_\(source.name.filter { $0 != "." })")
        let work = try CoreDataWorkplace()
        let file = Corpus.url("xcdatamodel/\(try #require(source.model)).xml").path
        #expect(try bring(source, work).code == 0)
        let own = try ImportedStore(work.new).schema.model
        let given = try ModelFile(contentsOfFile: file).model
        #expect(own.entityVersionHashesByName == given.entityVersionHashesByName)
        for entity in given.entities {
            let other = try #require(own.entity(named: entity.name))
            // CareKit changes defaults in code, which do not count for what version a model is.
            for attribute in entity.attributes where source.name != "SampleStore2.0" {
                let same = other.attributes.first { $0.name == attribute.name }
                #expect(
                    same?.defaultValue == attribute.defaultValue,
                    "\(entity.name).\(attribute.name)")
            }
            #expect(
                Dictionary(
                    uniqueKeysWithValues: entity.relationships.map { ($0.name, $0.deleteRule) })
                    == Dictionary(
                        uniqueKeysWithValues: other.relationships.map { ($0.name, $0.deleteRule) }),
                "\(entity.name)")
        }
        // And the store comes over by it alike.
        let second = work.folder.path("second.cairn")
        let run = CairnToolTests.run(["import-coredata", source.path, second, "--model", file])
        #expect(run.code == 0, "\(run.errors)")
        for entity in own.entities {
            #expect(
                try ImportedStore(second).numbers(entity.name)
                    == ImportedStore(work.new).numbers(entity.name))
        }
    }

    @Test("a derived attribute of a store's own model is computed, and agrees with Core Data's")
    func derived() throws {
        Corpus.noteUse()
        let work = try CoreDataWorkplace()
        let source = try #require(CorpusCoreDataStore.all.first { $0.name == "SampleModel2_V2" })
        #expect(try bring(source, work).code == 0)
        let store = try ImportedStore(work.new)
        let book = try #require(store.schema.model.entity(named: "Book"))
        #expect(
            book.attributes.first { $0.name == "pagesCount" }?.derivationExpression
                == "pages.@count")
        let feedbacks = try #require(
            store.schema.model.entity(named: "Author")?.fetchedProperties
                .first { $0.name == "feedbacks" })
        #expect(feedbacks.predicateFormat == "authorAlias == $FETCH_SOURCE.alias")
        #expect(feedbacks.sortDescriptors.map(\.key) == ["rating"])
    }

    /// The titles of a tree of bookmarks, in their order.
    private func tree(_ number: UInt64, _ store: ImportedStore) throws -> String {
        guard case .string(let title) = try store.value("BookmarkEntity", number, "title") else {
            return "?"
        }
        let children = try store.members("BookmarkEntity", number, "children")
        if children.isEmpty { return title }
        return title + "(" + (try children.map { try tree($0, store) }).joined(separator: " ") + ")"
    }

    @Test("the three stores of bookmarks end in the same ordered tree")
    func trees() throws {
        Corpus.noteUse()
        var trees: [String] = []
        var favorites: [String] = []
        for source in CorpusCoreDataStore.all where source.name.hasPrefix("Bookmarks") {
            let work = try CoreDataWorkplace()
            #expect(try bring(source, work).code == 0)
            let store = try ImportedStore(work.new)
            for number in try store.numbers("BookmarkEntity") {
                let title = try store.value("BookmarkEntity", number, "title")
                if title == .string("bookmarks_root") { trees.append(try tree(number, store)) }
                if title == .string("favorites_root") {
                    let members = try store.members("BookmarkEntity", number, "favorites")
                    favorites.append(
                        try members.map { try tree($0, store) }.joined(separator: " "))
                }
            }
        }
        #expect(trees == Array(repeating: "bookmarks_root(1 2 3(31 32 33) 4 5)", count: 3))
        #expect(favorites == Array(repeating: "5 4 33 32 2", count: 3))
    }
}
