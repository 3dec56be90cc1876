// The studio's page in a browser: what its tests do with it in words of the studio.

import Foundation

extension BrowserPage {
    private static let isReady = "document.querySelector('#view')?.dataset.state === 'ready'"

    /// Opens a studio's first address, and waits for what it shows.
    func enter(_ studio: StudioProcess) async throws {
        try await open(studio.address)
        try await until("location.search === '' && \(Self.isReady)")
    }

    /// Goes to a view, and waits for it.
    func show(_ route: String) async throws {
        let _: Bool = try await evaluate(
            """
            (() => {
              const before = location.hash;
              location.hash = \(Self.quoted(route));
              if (location.hash !== before) document.querySelector("#view").dataset.state = "left";
              return true;
            })()
            """)
        try await settled()
    }

    /// Waits for the view that the address says.
    func settled() async throws {
        try await until(Self.isReady)
    }

    /// Waits for a table of so many rows.
    func untilTable(of count: Int) async throws {
        try await until(
            "document.querySelector('.table-view')?.dataset.total === '\(count)' && document.querySelector('.grid-layer .awaited:not([hidden])') === null"
        )
    }

    /// Waits for a table that says that it is sorted by a column.
    func untilSorted(_ column: String, _ order: String) async throws {
        let heading = "document.querySelector('.grid-heading[data-key=\(column)]')"
        try await until("\(Self.isReady) && \(heading)?.getAttribute('aria-sort') === '\(order)'")
    }

    private static func cellTexts(_ column: String) -> String {
        """
        (() => {
          const index = [...document.querySelectorAll('.grid-heading')].findIndex((one) => one.dataset.key === \(quoted(column)));
          return [...document.querySelectorAll('.grid-layer .grid-row:not([hidden])')]
            .map((row) => (row.children[index].querySelector('.cell-text') ?? row.children[index]).textContent);
        })()
        """
    }

    /// The texts of a column of the rows in view.
    func cells(of column: String) async throws -> [String] {
        try await evaluate(Self.cellTexts(column))
    }

    /// Waits until the first row in view has a text in a column.
    func untilFirst(_ column: String, is text: String) async throws {
        try await until("\(Self.cellTexts(column))[0] === \(Self.quoted(text))")
    }

    /// Waits for a message of these words, anywhere on the page.
    func untilWords(_ words: String) async throws {
        try await until("(document.body?.innerText ?? '').includes(\(Self.quoted(words)))")
    }
}
