// Commits over time.

import CairnTestSupport
import Testing

@testable import CairnPictures

@Suite("Commits over time")
struct CommitTimelineTests {
    @Test("there are never more spans than asked for, and each moment is in its own")
    func bins() {
        var random = RandomSource()
        for _ in 0..<200 {
            let first = Double.random(in: -1e9...1e9, using: &random)
            let exponent = Double.random(in: 0...11, using: &random)
            var last = first
            for _ in 0..<Int(exponent) { last = first + (last - first + 1) * 10 }
            let most = Int.random(in: 2...80, using: &random)
            let bins = TimeBins(first: first, last: last, most: most)
            #expect((1...most).contains(bins.count))
            for time in [first, (first + last) / 2, last] {
                let index = bins.index(of: time)
                #expect(bins.start(of: index) <= time)
                #expect(time < bins.start(of: index) + bins.length)
            }
        }
    }

    @Test(
        "spans have the lengths that people count in",
        arguments: [
            (0, "a second"), (79, "a second"), (300, "5 seconds"), (3600 * 19, "15 minutes"),
            (86_400 * 60, "a day"), (86_400 * 365, "a week"), (86_400 * 365 * 30, "52 weeks"),
        ] as [(Double, String)])
    func lengths(span: Double, name: String) {
        #expect(TimeBins(first: 0, last: span, most: 80).name == name)
    }

    @Test("bars name their commits and count what these changed")
    func bars() throws {
        let day = 86_400.0
        let timeline = CommitTimeline([
            .init(1, time: 10, inserted: 5, updated: 0, deleted: 0),
            .init(2, time: 20, inserted: 1, updated: 2, deleted: 0),
            .init(3, time: 70 * day, inserted: 0, updated: 0, deleted: 4),
            .init(4, time: .nan, inserted: 0, updated: 0, deleted: 0),
        ])
        let text = try PictureText(timeline.picture())
        #expect(text.values(of: "data-commit") == ["1", "3"])
        #expect(text.values(of: "data-last-commit") == ["2"])
        let titles = text.all("title").map(\.text)
        #expect(
            titles.contains(
                "2001-01-01T00:00:00Z: 2 commits (commits 1 to 2)\n6 inserted, 2 updated"))
        #expect(
            timeline.picture().summary
                == "4 commits from 2001-01-01T00:00:10Z to 2001-03-12T00:00:00Z; objects: 6 inserted, 2 updated, 4 deleted."
        )
    }

    @Test("moments beyond every calendar, and none at all, are no trouble")
    func strange() throws {
        for times in [[], [Double.infinity], [-1e300, 1e300], [-1.9e11, 1.9e11]] {
            let commits = times.enumerated().map {
                CommitTimeline.Commit(
                    UInt64($0), time: $1, inserted: .max, updated: .max, deleted: .max)
            }
            _ = try PictureText(CommitTimeline(commits).picture(width: 300))
        }
    }
}
