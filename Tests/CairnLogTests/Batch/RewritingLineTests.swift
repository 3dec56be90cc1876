// Blocks of a batch update on their way from those who make them to the one who writes them.

import CairnTestSupport
import Testing

@testable import CairnLog

@Suite("The line of blocks that are made anew")
struct RewritingLineTests {
    private struct Progress {
        var made: Set<Int> = []
        var threadsThatEnded = 0
    }

    @Test("Who is as far ahead as may be waits, and goes on when a block is written")
    func ahead() throws {
        // It is for several threads, and locks what they share.
        nonisolated(unsafe) let line = RewritingLine(count: 100, ahead: 2)
        let progress = Monitor(Progress())
        for _ in 0..<3 {
            let isStarted = SystemThread.start {
                while let index = line.next() {
                    line.finish(index)
                    progress.update { _ = $0.made.insert(index) }
                }
                progress.update { $0.threadsThatEnded += 1 }
            }
            try #require(isStarted)
        }
        // The writer makes none itself: all of them come from the threads.
        for index in 0..<100 {
            let isMade = inTime(for: "block \(index) to be made ahead") {
                progress.wait { progress -> Bool? in
                    if progress.made.contains(index) { return true }
                    return progress.threadsThatEnded == 3 ? false : nil
                }
            }
            try #require(isMade, "block \(index)")
            guard case .write = line.step(for: index) else {
                Issue.record("block \(index) is made, and not to be made again")
                return
            }
            line.passOn(index)
        }
        line.end()
        let count = inTime(for: "the threads to end") {
            progress.wait { $0.threadsThatEnded == 3 ? $0.made.count : nil }
        }
        #expect(count == 100)
    }
}
