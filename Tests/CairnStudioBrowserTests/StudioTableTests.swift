// The table of the studio: conditions typed, columns sorted, far rows reached, relationships followed.

import CairnTestSupport
import Testing

@Suite(
    "The studio's table in a browser",
    .enabled(if: BrowserProgram.installed != nil && StudioProcess.tool != nil), .serialized, .ahead)
struct StudioTableTests {
    @Test(
        "A condition is completed while it is typed, applied, and its error shown under its place")
    func condition() async throws {
        let store = try StudioStore.quickstart()
        let studio = try StudioProcess(store.path)
        try await Browser.with { page in
            try await page.enter(studio)
            try await page.show("#/browse/Airport")
            try await page.untilTable(of: 62)
            try await page.click(".condition-input")
            try await page.type("coun")
            try await page.until("document.querySelectorAll('.suggestions li').length === 1")
            try await page.press("ArrowDown")
            try await page.press("Enter")
            try await page.until(
                "document.querySelector('.suggestions').innerText.includes('CONTAINS[cd]')")
            try await page.type("== ")
            try await page.until(
                "document.querySelector('.suggestions').innerText.includes(\"'DE'\")")
            try await page.type("'DE' AND elevation > 300")
            try await page.press("Enter")
            try await page.until("location.hash.includes('where=')")
            try await page.untilTable(of: 2)
            #expect(try await page.cells(of: "country") == ["DE", "DE"])

            try await page.click(".condition-input")
            try await page.type(" AND AND")
            try await page.until("document.querySelector('.condition-error').hidden === false")
            try await page.until(
                "document.querySelector('.condition-place mark').innerText === 'AND'")
            try await page.press("Enter")
            try await page.untilWords("nothing can be shown")
            try await page.press("Escape")
            try await page.click(".clear")
            try await page.untilTable(of: 62)
        }
    }

    @Test("Columns are sorted by clicking, added with Shift, and filtered by a value")
    func sorting() async throws {
        let store = try StudioStore.shops()
        let studio = try StudioProcess(store.path)
        try await Browser.with { page in
            try await page.enter(studio)
            try await page.show("#/browse/Item")
            try await page.untilTable(of: 500)
            try await page.click(".grid-heading[data-key=price]")
            try await page.until("location.hash.endsWith('sort=price')")
            // The first row was the same before: only the heading tells that the table is the sorted one.
            try await page.untilSorted("price", "ascending")
            try await page.untilTable(of: 500)
            try await page.untilFirst("price", is: "0")
            try await page.click(".grid-heading[data-key=price]")
            try await page.until("location.hash.endsWith('sort=-price')")
            try await page.untilSorted("price", "descending")
            try await page.untilFirst("price", is: "89")
            try await page.click(".grid-heading[data-key=name]", with: .shift)
            try await page.until("location.hash.endsWith('sort=-price%2Cname')")
            try await page.untilFirst("name", is: "item 179")
            #expect(
                try await page.evaluate(
                    "document.querySelector('[data-key=price]').getAttribute('aria-sort')")
                    == "descending")
            // Only the rows with the price of the first one.
            try await page.click(".grid-layer .grid-row .grid-cell:nth-child(3)")
            try await page.press("f")
            try await page.until("location.hash.includes('where=price')")
            try await page.untilTable(of: 5)
            #expect(try await page.cells(of: "price") == ["89", "89", "89", "89", "89"])
        }
    }

    @Test("The last row is reached, and the table is where it was after an object was looked at")
    func farRows() async throws {
        let store = try StudioStore.shops()
        let studio = try StudioProcess(store.path)
        try await Browser.with { page in
            try await page.enter(studio)
            try await page.show("#/browse/Item")
            try await page.untilTable(of: 500)
            try await page.press("End", with: .control)
            try await page.until(
                "document.querySelector('.grid-cell.active')?.parentElement.getAttribute('aria-rowindex') === '501'"
            )
            try await page.untilTable(of: 500)
            #expect(try await page.cells(of: "name").contains("item 499"))
            #expect(
                try await page.evaluate("document.querySelectorAll('.grid-layer .grid-row').length")
                    < 60)
            try await page.press("PageUp")
            let row: String = try await page.evaluate(
                "document.querySelector('.grid-cell.active').parentElement.getAttribute('aria-rowindex')"
            )
            try await page.press("Enter")
            try await page.until("location.hash.includes('/object/Item/')")
            try await page.settled()
            try await page.press("Escape")
            try await page.untilTable(of: 500)
            try await page.until(
                "document.querySelector('.grid-cell.active')?.parentElement.getAttribute('aria-rowindex') === '\(row)'"
            )
        }
    }

    @Test("A relationship is followed by a click, shown as a table, and left by going back")
    func relationship() async throws {
        let store = try StudioStore.shops()
        let studio = try StudioProcess(store.path)
        try await Browser.with { page in
            try await page.enter(studio)
            try await page.show("#/browse/Item")
            try await page.untilTable(of: 500)
            try await page.click(".grid-layer .grid-row .grid-cell.type-reference")
            try await page.until("location.hash.includes('/object/Shop/')")
            try await page.settled()
            #expect(try await page.words("h1") == "East")
            try await page.clickWords("Show all 167 in a table")
            try await page.untilTable(of: 167)
            let _: Bool = try await page.evaluate("history.back(), true")
            try await page.until("location.hash.includes('/object/Shop/')")
            try await page.settled()
            #expect(try await page.words("h1") == "East")
        }
    }

    @Test("Ten million rows are mapped to a scroller that browsers can have, each reachable")
    func tenMillionRows() async throws {
        let store = try StudioStore.shops()
        let studio = try StudioProcess(store.path)
        try await Browser.with { page in
            try await page.enter(studio)
            // The page's own module, with a table that no test could fill.
            let found: [Double] = try await page.evaluate(
                """
                (async () => {
                  const { ScrollMap } = await import('/scripts/grid/scroll-map.js');
                  const map = new ScrollMap(28);
                  map.rows = 10_000_000;
                  map.viewport = 600;
                  const range = map.scrollerHeight - map.viewport;
                  const seen = [map.scrollerHeight];
                  map.scrolled(range);
                  seen.push(map.firstRow + Math.floor(map.viewport / 28));
                  map.reveal(6_999_999);
                  map.settled(map.scrollerTop);
                  seen.push(map.firstRow);
                  map.moveBy(28);
                  seen.push(map.firstRow);
                  map.scrolled(map.scrollerTop + 28);
                  seen.push(map.firstRow);
                  map.scrolled(0);
                  seen.push(map.firstRow);
                  return seen;
                })()
                """)
            #expect(found[0] == 8_000_000)
            #expect(found[1] >= 9_999_999)
            #expect(found[2] == 6_999_999)
            #expect(found[3] == 7_000_000)
            #expect((7_000_000...7_000_003).contains(found[4]))
            #expect(found[5] == 0)
        }
    }

    @Test("The keyboard alone is enough, and assistive programs are told where it is")
    func keyboard() async throws {
        let store = try StudioStore.quickstart()
        let studio = try StudioProcess(store.path)
        try await Browser.with { page in
            try await page.enter(studio)
            try await page.press("Tab")
            #expect(
                try await page.evaluate("document.activeElement.textContent")
                    == "Skip to the content")
            try await page.press("Enter")
            #expect(try await page.evaluate("document.activeElement.id") == "view")
            try await page.press("g")
            try await page.press("b")
            try await page.untilTable(of: 62)
            #expect(
                try await page.evaluate("document.activeElement.getAttribute('role')") == "grid")
            #expect(
                try await page.evaluate("document.activeElement.getAttribute('aria-rowcount')")
                    == "63")
            try await page.press("ArrowDown")
            try await page.press("ArrowRight")
            try await page.press("ArrowRight")
            #expect(
                try await page.evaluate(
                    "document.getElementById(document.activeElement.getAttribute('aria-activedescendant')).innerText.trim().slice(0, 3)"
                ) == "LOS")
            try await page.press("?")
            try await page.until("document.querySelector('dialog[open] kbd') !== null")
            try await page.press("Escape")
            try await page.until("document.querySelector('dialog') === null")
            try await page.press("ContextMenu")
            try await page.until("document.activeElement.getAttribute('role') === 'menuitem'")
            try await page.press("Escape")
            try await page.until("document.activeElement.getAttribute('role') === 'grid'")
            try await page.press("/")
            #expect(
                try await page.evaluate("document.activeElement.className") == "condition-input")
            try await page.type("iata == 'LOS'")
            try await page.press("Enter")
            try await page.untilTable(of: 1)
            try await page.press("Enter")
            try await page.until("location.hash.startsWith('#/object/Airport/p2')")
            try await page.settled()
            try await page.press("Escape")
            try await page.untilTable(of: 1)
        }
    }
}
