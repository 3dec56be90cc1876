// Segments that were retired and not removed yet, for the sake of a checkpoint or because the machine stopped
// between two removals: whichever of them are there, the content is the same.

import CairnStore
import CairnTestSupport
import Testing

@testable import CairnLog

@Suite("Segments that wait to be removed")
struct RetiredSegmentTests {
    @Test(
        "Whichever of them are gone or damaged, the content is the same, with a checkpoint that needs them and without",
        arguments: [true, false])
    func subsets(hasCheckpoint: Bool) throws {
        let store = try RichStore.made.get()
        let retired = store.closed.segments.filter { !store.live.contains($0) }
        try #require(retired.count > 2 && retired.count < 8)
        for subset in 0..<1 << retired.count {
            for isGone in [true, false] {
                var image = store.closed
                if !hasCheckpoint { image.files[store.checkpoint] = nil }
                for (index, name) in retired.enumerated() where subset & 1 << index != 0 {
                    if isGone {
                        image.files[name] = nil
                    } else {
                        image.files[name]?[300] ^= 1
                    }
                }
                let outcome = try EveryBitTests.read(try image.disk(), checks: true)
                guard case .content(let content, let findings, _) = outcome else {
                    Issue.record("subset \(subset), gone \(isGone): \(outcome)")
                    continue
                }
                #expect(content == store.content)
                #expect(findings.isEmpty)
                // A writer removes what is left of them, and goes on.
                let disk = try image.disk()
                let writer = try LogStore.open(
                    at: "\(DiskImage.folder)", options: RichStore.options(on: disk))
                try SampleStore.changedRows(writer)
                try writer.close()
            }
        }
    }
}
