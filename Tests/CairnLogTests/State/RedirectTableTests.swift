// The table of redirects beside a plain dictionary.

import CairnTestSupport
import Testing

@testable import CairnLog

@Suite("Tables of redirects")
struct RedirectTableTests {
    @Test("However many entries come, and in however many steps, the newest ones are in force")
    func random() {
        var random = RandomSource()
        var table: RedirectTable?
        var plain: [RedirectTable.Key: RedirectTable.Entry] = [:]
        for _ in 0..<400 {
            var entries: [RedirectTable.Key: RedirectTable.Entry] = [:]
            let count = random.oneIn(20) ? 2_000 : Int.random(in: 0...40, using: &random)
            for _ in 0..<count {
                let key = RedirectTable.Key(
                    tree: UInt32.random(in: 1...2, using: &random),
                    UInt32.random(in: 1...9_000, using: &random))
                entries[key] = RedirectTable.Entry(
                    target: random.oneIn(9) ? 0 : UInt32.random(in: 1...9_000, using: &random),
                    turn: UInt32.random(in: 0...5, using: &random), segment: 1)
            }
            let before = table
            table = RedirectTable.adding(entries, to: table)
            for (key, entry) in entries { plain[key] = entry.newer(than: plain[key]) }
            if entries.isEmpty { #expect(table === before) }
        }
        #expect(table?.entries == plain)
        #expect(table?.count == plain.values.count { $0.target != 0 })
        #expect(table?.mostSteps ?? 0 >= plain.count)
        #expect(plain.allSatisfy { table?[$0.key] == $0.value })
        var each: [RedirectTable.Key: RedirectTable.Entry] = [:]
        table?.forEach { key, entry in
            #expect(each.updateValue(entry, forKey: key) == nil)
        }
        #expect(each == plain)
    }
}
