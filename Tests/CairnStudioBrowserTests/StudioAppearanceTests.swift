// How the studio looks: in light and dark, wide and as narrow as a telephone. Pictures go where CAIRN_SCREENSHOTS says.

import CairnTestSupport
import Testing

@Suite(
    "The studio's appearance in a browser",
    .enabled(if: BrowserProgram.installed != nil && StudioProcess.tool != nil), .serialized, .ahead)
struct StudioAppearanceTests {
    private static let views = [
        ("home", "#/home"), ("model", "#/model"),
        ("browse", "#/browse/Airport?where=elevation > 100&sort=-elevation"),
        ("object", "#/object/Airport/p38"),
        ("groups", "#/ask/groups?entity=Airport&by=country&measure=average:elevation"),
        ("plan", "#/ask/plan?entity=Airport&where=country == 'DE' AND elevation > 100&sort=name"),
        ("duplicates", "#/ask/duplicates?entity=Airport&by=country"),
        ("history", "#/history?commit=5"),
        ("past", "#/browse/Airport?at=4"), ("health", "#/health"),
    ]

    @Test(
        "Nothing sticks out, and words stand out from what is behind them",
        arguments: [(1280, false), (1280, true), (400, false), (400, true)])
    func appearance(_ width: Int, _ isDark: Bool) async throws {
        let store = try StudioStore.quickstart()
        let studio = try StudioProcess(store.path, canWrite: true)
        try await Browser.with { page in
            try await page.resize(width, 800)
            try await page.darken(isDark)
            try await page.enter(studio)
            for (name, route) in Self.views {
                try await page.show(route)
                let widest: Int = try await page.evaluate(
                    "Math.max(document.documentElement.scrollWidth, document.querySelector('#view').scrollWidth)"
                )
                #expect(widest <= width, "\(name) is \(widest) pixels wide")
                let faint: [String] = try await page.evaluate(Self.faintWords)
                #expect(faint.isEmpty, "\(name): \(faint)")
                try await page.picture("\(name)-\(width)-\(isDark ? "dark" : "light")")
            }
        }
    }

    /// The words whose contrast with what is behind them is less than the 4.5 of the accessibility guidelines.
    private static let faintWords = """
        (() => {
          const parts = (color) => (color.match(/[\\d.]+/g) ?? []).map(Number);
          const light = ([red, green, blue]) => [red, green, blue].map((part) => part / 255)
            .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
            .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
          const behind = (element) => {
            for (let at = element; at; at = at.parentElement) {
              const color = parts(getComputedStyle(at).backgroundColor);
              if (color.length === 3 || color[3] === 1) return color;
            }
            return [255, 255, 255];
          };
          const faint = new Set();
          for (const element of document.querySelectorAll('body *')) {
            if (element.closest('svg, option, select') || element.disabled) continue;
            const own = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim() !== '');
            if (!own || element.offsetParent === null) continue;
            const [one, other] = [light(parts(getComputedStyle(element).color)), light(behind(element))].sort((a, b) => b - a);
            const contrast = (one + 0.05) / (other + 0.05);
            if (contrast < 4.5) faint.add(`${element.className || element.tagName} “${element.textContent.slice(0, 30)}”: ${contrast.toFixed(2)}`);
          }
          return [...faint];
        })()
        """
}
