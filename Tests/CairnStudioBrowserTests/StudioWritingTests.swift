// Changes made in the studio: edited, added, deleted, imported, taken back; and what others write meanwhile.

import CairnTestSupport
import Foundation
import Testing

@Suite(
    "Writing in the studio in a browser",
    .enabled(if: BrowserProgram.installed != nil && StudioProcess.tool != nil), .serialized, .ahead)
struct StudioWritingTests {
    private static func price(_ name: String, in store: StudioStore) throws -> Int? {
        struct Row: Decodable {
            let price: Int?
        }
        let line = try StudioProcess.cairn("get", store.path, "Item", name, "--json")
        return try JSONDecoder().decode(Row.self, from: Data(line.utf8)).price
    }

    private static func count(_ store: StudioStore) throws -> String {
        try StudioProcess.cairn("count", store.path, "Item", "--json")
    }

    @Test("A cell is edited and saved, and taken back")
    func edit() async throws {
        let store = try StudioStore.shops()
        let studio = try StudioProcess(store.path, canWrite: true)
        try await Browser.with { page in
            try await page.enter(studio)
            #expect(try await page.words(".badge") == "writable")
            try await page.show("#/browse/Item")
            try await page.untilTable(of: 500)
            try await page.click(".grid-layer .grid-row .grid-cell:nth-child(3)")
            try await page.press("F2")
            try await page.until(
                "document.querySelector('.cell-editor input') === document.activeElement")
            try await page.type("4711")
            try await page.press("Enter")
            try await page.untilWords("Saved price of p")
            try await page.untilFirst("price", is: "4711")
            #expect(try Self.price("item 0", in: store) == 4711)
            try await page.clickWords("Undo")
            try await page.untilWords("Taken back")
            #expect(try Self.price("item 0", in: store) == 0)
        }
    }

    @Test("An object's form says what is wrong, and saves what is right")
    func form() async throws {
        let store = try StudioStore.shops()
        let studio = try StudioProcess(store.path, canWrite: true)
        try await Browser.with { page in
            try await page.enter(studio)
            try await page.show("#/object/Item/new")
            try await page.click("[aria-label=name]")
            try await page.type("a new item")
            try await page.click("[aria-label=price]")
            try await page.type("twelve")
            try await page.clickWords("Add")
            try await page.untilWords("price is a whole number")
            let _: Bool = try await page.evaluate(
                "document.querySelector('[aria-label=price]').select(), true")
            try await page.click("[aria-label=price]", times: 3)
            try await page.type("12")
            try await page.clickWords("Add")
            try await page.until("location.hash.includes('/object/Item/p')")
            try await page.settled()
            #expect(try await page.words("h1") == "a new item")
            #expect(try Self.price("a new item", in: store) == 12)
            // A second one of the same name is refused, by the property's name.
            try await page.show("#/object/Item/new")
            try await page.click("[aria-label=name]")
            try await page.type("a new item")
            try await page.clickWords("Add")
            try await page.until(
                "document.querySelector('.toast.error')?.innerText.includes('name') === true")
        }
    }

    @Test("What somebody else has changed meanwhile is a conflict, which is shown and decided")
    func conflict() async throws {
        let store = try StudioStore.shops()
        let studio = try StudioProcess(store.path, canWrite: true)
        try store.write("other.csv", "name,price\nitem 0,77\n")
        try await Browser.with { page in
            try await page.enter(studio)
            try await page.show("#/browse/Item")
            try await page.untilTable(of: 500)
            try await page.click(".grid-layer .grid-row .grid-cell:nth-child(3)")
            try await page.press("F2")
            try await page.until(
                "document.querySelector('.cell-editor input') === document.activeElement")
            try store.run("import", "other.csv", ["--entity", "Item", "--set-only"])
            try await page.type("88")
            try await page.press("Enter")
            try await page.untilWords("Somebody else has changed this")
            #expect(try await page.allWords("dialog tbody td").suffix(3) == ["0", "88", "77"])
            #expect(try Self.price("item 0", in: store) == 77)
            try await page.clickWords("Save mine over it")
            try await page.untilWords("Saved price of p")
            #expect(try Self.price("item 0", in: store) == 88)
        }
    }

    @Test("A file is previewed before it is imported, and an object deleted after a question")
    func importing() async throws {
        let store = try StudioStore.shops()
        let studio = try StudioProcess(store.path, canWrite: true)
        let file = try store.write("new.csv", "name,price\nitem 0,5\nitem 1,1\nfresh,1\nfresh,2\n")
        let before = try Self.count(store)
        try await Browser.with { page in
            try await page.enter(studio)
            try await page.show("#/browse/Item")
            try await page.untilTable(of: 500)
            try await page.clickWords("Import…")
            try await page.choose(file, in: "dialog input[type=file]")
            try await page.untilWords("Importing it would mean")
            #expect(
                try await page.allWords("dialog .numbers li").map { $0.split(separator: "\n")[0] }
                    == ["1", "2", "1", "1"])
            #expect(try Self.count(store) == before)
            try await page.clickWords("Import")
            try await page.untilTable(of: 501)
            #expect(try Self.price("fresh", in: store) == 2)

            try await page.press("End", with: .control)
            try await page.untilTable(of: 501)
            try await page.press("Delete")
            try await page.until("document.querySelector('dialog[open]') !== null")
            try await page.clickWords("Delete")
            try await page.untilTable(of: 500)
            #expect(try Self.count(store) == before)
        }
    }

    @Test("A file dropped on the table is previewed and imported, and the last change undone")
    func dropping() async throws {
        let store = try StudioStore.shops()
        let studio = try StudioProcess(store.path, canWrite: true)
        let file = try store.write("dropped.csv", "name,price\nitem 0,5\nfresh,1\n")
        try await Browser.with { page in
            try await page.enter(studio)
            try await page.show("#/browse/Item")
            try await page.untilTable(of: 500)
            try await page.drag(file, over: ".table-view", dropping: false)
            #expect(try await page.evaluate("document.querySelector('dialog[open]') === null"))
            try await page.drag(file, over: ".table-view")
            try await page.untilWords("Importing it would mean")
            #expect(
                try await page.allWords("dialog .numbers li").map { $0.split(separator: "\n")[0] }
                    .prefix(2) == ["1", "1"])
            try await page.clickWords("Import")
            try await page.untilTable(of: 501)
            try await page.untilWords("Imported dropped.csv: 1 inserted, 1 updated")
            #expect(try Self.price("item 0", in: store) == 5)
            try await page.clickWords("Undo")
            try await page.untilTable(of: 500)
            #expect(try Self.price("item 0", in: store) == 0)
        }
    }

    @Test("A commit of another program is told, and shown when it is wanted")
    func news() async throws {
        let store = try StudioStore.shops()
        let studio = try StudioProcess(store.path)
        try store.write("other.csv", "name,price\none more,1\n")
        try await Browser.with { page in
            try await page.enter(studio)
            try await page.show("#/browse/Item")
            try await page.untilTable(of: 500)
            try store.run("import", "other.csv", ["--entity", "Item"])
            try await page.untilWords("1 new commit – show")
            #expect(try await page.words(".status") == "500 objects")
            try await page.clickWords("1 new commit – show")
            try await page.untilTable(of: 501)
        }
    }
}
