// Every view of the studio, opened in a browser over stores of several kinds.

import CairnTestSupport
import Foundation
import Testing

@Suite(
    "The studio's views in a browser",
    .enabled(if: BrowserProgram.installed != nil && StudioProcess.tool != nil), .serialized, .ahead)
struct StudioViewTests {
    /// The views, and words that each has when it shows what it should.
    private static let views = [
        ("#/home", "Where the space goes"), ("#/model", "Entities"), ("#/browse", ""),
        ("#/ask/groups", "Group by"), ("#/ask/plan", "scan of"), ("#/ask/duplicates", "The key"),
        ("#/history", "History"), ("#/health", "Check the store"),
    ]

    @Test("Each view of the store of the first command shows what it is about")
    func quickstart() async throws {
        let store = try StudioStore.quickstart()
        let studio = try StudioProcess(store.path)
        try await Browser.with { page in
            try await page.enter(studio)
            #expect(try await page.words(".store-title") == "shown.cairn")
            #expect(try await page.words(".badge") == "read-only")
            for (route, words) in Self.views {
                try await page.show(route)
                try await page.untilWords(words)
            }
            try await page.show("#/ask/groups?entity=Airport&by=country&measure=average:elevation")
            try await page.untilWords("average of elevation")
            #expect(try await page.allWords(".groups-table tbody tr").count > 10)
            try await page.show("#/ask/duplicates?entity=Airport&by=country")
            try await page.untilWords("cairn duplicates")
            try await page.show("#/ask/plan?entity=Airport&where=country == 'DE'&sort=-elevation")
            try await page.untilWords("scan of Airport")
            #expect(try await page.allWords(".condition-tree code") == ["country == 'DE'"])
            try await page.show("#/search?text=berlin")
            #expect(try await page.allWords(".places a").isEmpty == false)
        }
    }

    /// The files that the page is made of.
    private static func sources() throws -> [String] {
        // This file lies in Tests/CairnStudioBrowserTests of the package.
        let package = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let folder = package.appendingPathComponent("Sources/CStudioPage/page")
        // Folders have no dot in their names.
        return try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { $0.contains(".") }
    }

    @Test("Each file of the page is in the binary, with a type that browsers take")
    func files() async throws {
        let store = try StudioStore.shops()
        let studio = try StudioProcess(store.path)
        let sources = try Self.sources()
        #expect(sources.count > 30)
        try await Browser.with { page in
            try await page.enter(studio)
            for name in sources {
                let path = name == "index.html" ? "/" : "/\(name)"
                let type: String = try await page.evaluate(
                    "fetch(\(BrowserPage.quoted(path))).then((it) => it.ok ? it.headers.get('Content-Type') : `${it.status}`)"
                )
                let expected = [
                    "html": "text/html", "js": "text/javascript", "css": "text/css",
                    "svg": "image/svg+xml",
                ]
                let wanted = try #require(expected[(name as NSString).pathExtension], "\(name)")
                #expect(type.hasPrefix(wanted), "\(name): \(type)")
            }
        }
    }

    @Test("The history tells what changed from what to what, and leads to the past and back")
    func history() async throws {
        let store = try StudioStore.quickstart()
        let studio = try StudioProcess(store.path)
        try await Browser.with { page in
            try await page.enter(studio)
            try await page.show("#/history")
            try await page.click(".transaction summary")
            try await page.untilWords("Berlin Brandenburg Airport")
            #expect(try await page.allWords(".changes del").contains("Berlin Schönefeld Airport"))
            try await page.clickWords("The store before it")
            try await page.untilWords("You are looking at the past")
            try await page.untilTable(of: 57)
            try await page.clickWords("Back to now")
            try await page.untilTable(of: 62)
            // The object's own page goes there as well.
            try await page.show("#/object/Airport/p38")
            #expect(try await page.words("h1") == "Berlin Brandenburg Airport")
            #expect(try await page.allWords(".timeline del").contains("Berlin Schönefeld Airport"))
            try await page.show("#/object/Airport/p38?at=4")
            #expect(try await page.words("h1") == "Berlin Schönefeld Airport")
        }
    }

    @Test("The check runs with its progress and finds a sound store sound")
    func check() async throws {
        let store = try StudioStore.quickstart()
        let studio = try StudioProcess(store.path)
        try await Browser.with { page in
            try await page.enter(studio)
            try await page.show("#/health")
            try await page.clickWords("Check the store")
            try await page.untilWords("The store is sound.")
            try await page.untilWords("cairn salvage '\(store.path)'")
        }
    }

    @Test("Damage is shown by its place, with the command that writes what is left")
    func damage() async throws {
        let store = try StudioStore.quickstart()
        let studio = try StudioProcess(store.path)
        struct Frame: Decodable {
            let segment: Int
            let kind: String
            let offset: Int
        }
        let frame = try #require(
            try StudioProcess.cairn("frames", store.path, "--json").split(separator: "\n")
                .map { try JSONDecoder().decode(Frame.self, from: Data($0.utf8)) }
                .last { $0.kind == "block" })
        let digits = String(frame.segment)
        let name = String(repeating: "0", count: 10 - digits.count) + digits
        let segment = "\(store.path)/\(name).segment"
        try await Browser.with { page in
            try await page.enter(studio)
            // As a disk loses a bit under a program that has the store open.
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: segment))
            try file.seek(toOffset: UInt64(frame.offset + 80))
            let byte = try #require(try file.read(upToCount: 1)?.first)
            try file.seek(toOffset: UInt64(frame.offset + 80))
            try file.write(contentsOf: [byte ^ 1])
            try file.close()
            try await page.show("#/health")
            try await page.clickWords("Check the store")
            try await page.untilWords("The store is damaged")
            let offsets = try await page.allWords(".plain-table td.number")
            #expect(
                offsets.map { $0.filter(\.isNumber) }.contains("\(frame.offset)"), "\(offsets)")
            try await page.untilWords("cairn salvage '\(store.path)'")
        }
    }

    @Test(
        "Each entity of a store that Core Data wrote is shown, with an object of it",
        .enabled(if: Corpus.isAvailable),
        arguments: ["Bookmarks_V5", "SampleModel_V2", "SampleModel2_V2", "SampleStore2.0"])
    func corpus(_ name: String) async throws {
        Corpus.noteUse()
        let store = try StudioStore.corpus(name)
        let studio = try StudioProcess(store.path)
        try await Browser.with { page in
            try await page.enter(studio)
            for (route, words) in Self.views {
                try await page.show(route)
                try await page.untilWords(words)
            }
            try await page.show("#/model")
            let entities = try await page.allWords(".entity-list a")
            #expect(entities.count > 0)
            for entity in entities {
                try await page.show("#/browse/\(entity)")
                try await page.until("document.querySelector('.table-view').dataset.total > -1")
                let id = try await page.cells(of: "objectID").first
                guard let id, !id.isEmpty else { continue }
                try await page.press("Enter")
                try await page.until("location.hash.includes('/object/')")
                try await page.until(
                    "document.querySelector('.trail').innerText.includes(\(BrowserPage.quoted(id)))"
                )
                try await page.settled()
            }
        }
    }
}
