// Passes the blocks of a batch update to the threads that rewrite them, and the rewritten blocks in order to the one that
// writes them.
//
//   1. Whoever makes a block takes the next one, as long as it is not too far ahead of what is written.
//   2. The writer takes the block whose turn it is. If that is not made yet it makes another one meanwhile; only if it could
//      get no further ahead does it wait.
//
// Invariants: `written <= claimed <= written + places.count`; a place belongs to the thread that claimed its block until that
// is made, then to the writer until it is written.
// Threads: any; one of them writes.

import CairnStore
import Synchronization

/// The pipeline of a batch update's blocks.
final class RewritingLine {
    private struct Contents {
        var claimed = 0
        var written = 0
        var isOver = false
        /// By place: whether its block is made.
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

    /// - Parameter ahead: how many blocks may wait to be written.
    init(count: Int, ahead: Int) {
        self.count = count
        places = (0..<ahead).map { _ in RewrittenBlock() }
        contents = Monitor(Contents(isMade: Array(repeating: false, count: ahead)))
    }

    /// Where a block goes that was taken.
    func place(of index: Int) -> RewrittenBlock { places[index % places.count] }

    /// The next block to be made; nil if there is none any more.
    func next() -> Int? {
        contents.wait { contents -> Int?? in
            if contents.isOver || contents.claimed == count { return .some(nil) }
            // Nothing to claim yet is no answer, but nil would be one.
            return self.claim(&contents).map { .some($0) }
        }
    }

    private func claim(_ contents: inout Contents) -> Int? {
        guard contents.claimed < min(count, contents.written + places.count) else { return nil }
        contents.claimed += 1
        return contents.claimed - 1
    }

    /// Says that a block is made.
    func finish(_ index: Int) { contents.update { $0.isMade[index % places.count] = true } }

    /// What the writer does until it can write a block.
    func step(for index: Int) -> Step {
        contents.wait { contents in
            if contents.isMade[index % self.places.count] { return .write(self.place(of: index)) }
            return self.claim(&contents).map { .make($0) }
        }
    }

    /// Says that a block is written.
    func passOn(_ index: Int) {
        contents.update {
            $0.isMade[index % places.count] = false
            $0.written = index + 1
        }
    }

    /// Says that no block more is wanted.
    func end() { contents.update { $0.isOver = true } }
}
