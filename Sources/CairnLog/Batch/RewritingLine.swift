// Passes the blocks of a batch update to the threads that rewrite them, and the rewritten blocks in order to
// the one that writes them.
//
//   1. A thread that rewrites blocks takes the next one, as long as it is not too far ahead of what is
//      written.
//   2. The writer takes blocks in order. If the next one is not ready, it rewrites another one in the
//      meantime; it waits only if it can get no further ahead.
//
// Invariants: `written <= claimed <= written + places.count`; a place belongs to the thread that claimed its
// block until that is rewritten, then to the writer until it is written.
// Threads: any; one of them writes.

import CairnStore
import Synchronization

/// The pipeline of a batch update's blocks.
final class RewritingLine {
    private struct Contents {
        var claimed = 0
        var written = 0
        var isOver = false
        /// By place: whether its block is ready.
        var isMade: [Bool]
    }

    /// What the writer does next.
    enum Step {
        case write(RewrittenBlock)
        case make(Int)
    }

    private let contents: Monitor<Contents>
    private let places: [RewrittenBlock]
    private let count: Int

    /// - Parameter ahead: the maximum number of blocks that wait to be written.
    init(count: Int, ahead: Int) {
        self.count = count
        places = (0..<ahead).map { _ in RewrittenBlock() }
        contents = Monitor(Contents(isMade: Array(repeating: false, count: ahead)))
    }

    /// The place of a claimed block.
    func place(of index: Int) -> RewrittenBlock { places[index % places.count] }

    /// Claims the next block to rewrite; nil if there is none left.
    func next() -> Int? {
        contents.wait { contents -> Int?? in
            if contents.isOver || contents.claimed == count { return .some(nil) }
            // If nothing can be claimed yet, the wait goes on; `.some(nil)` would end it.
            return self.claim(&contents).map { .some($0) }
        }
    }

    private func claim(_ contents: inout Contents) -> Int? {
        guard contents.claimed < min(count, contents.written + places.count) else { return nil }
        contents.claimed += 1
        return contents.claimed - 1
    }

    /// Marks a block as rewritten.
    func finish(_ index: Int) { contents.update { $0.isMade[index % places.count] = true } }

    /// What the writer does until it can write a block.
    func step(for index: Int) -> Step {
        contents.wait { contents in
            if contents.isMade[index % self.places.count] { return .write(self.place(of: index)) }
            return self.claim(&contents).map { .make($0) }
        }
    }

    /// Marks a block as written.
    func passOn(_ index: Int) {
        contents.update {
            $0.isMade[index % places.count] = false
            $0.written = index + 1
        }
    }

    /// Ends the line: no more blocks are needed.
    func end() { contents.update { $0.isOver = true } }
}
