// A batch update of whole columns on several threads.
//
//   1. The blocks that may contain matches are listed.
//   2. Helpers, and this thread while it has nothing to write, rewrite blocks: `BlockRewriter`.
//   3. This thread writes the rewritten blocks, in order, and processes those that the rewriters leave to it.
//
// Helpers read the state before the update, which is immutable and kept by the commit. So they change nothing
// but the time that it takes.

import CairnStore

extension BatchUpdater {
    /// The number of blocks below which the work is done before a helper thread has started.
    private static let blocksWorthHelp = 16
    /// The maximum number of blocks that wait to be written.
    private static let ahead = 32

    /// Whether the update only calculates columns, for rows that columns alone select.
    func isPlain(_ runner: FetchRunner) -> Bool {
        runner.objects == nil && runner.family.allSatisfy { target(of: $0).isPlain(plan) }
    }

    /// Updates the rows that a scan finds.
    func takeTogether(_ runner: FetchRunner, _ builder: inout CommitBuilder) throws(StoreError) {
        let list = runner.scanned()
        let (blocks, noted) = (list.blocks, list.noted)
        let line = RewritingLine(count: blocks.count, ahead: min(Self.ahead, max(1, blocks.count)))
        var failure: StoreError?
        func writeAll() {
            do throws(StoreError) {
                try write(
                    blocks, line, BlockRewriter(plan, runner, noted, tools.sizes), runner, &builder)
            } catch {
                failure = error
            }
            line.end()
        }
        if blocks.count < Self.blocksWorthHelp {
            writeAll()
        } else {
            reader.crew.together(writeAll) {
                let rewriter = BlockRewriter(plan, runner, noted, tools.sizes)
                while let index = line.next() {
                    rewriter.make(blocks[index], into: line.place(of: index))
                    line.finish(index)
                }
            }
        }
        if let failure { throw failure }
    }

    private func write(
        _ blocks: [ScanBlock], _ line: RewritingLine, _ rewriter: BlockRewriter,
        _ runner: FetchRunner, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        var index = 0
        while index < blocks.count {
            switch line.step(for: index) {
            case .make(let other):
                rewriter.make(blocks[other], into: line.place(of: other))
                line.finish(other)
            case .write(let made):
                runner.note(blocks[index])
                try write(made, blocks[index], &builder)
                if !goesOn { return }
                line.passOn(index)
                index += 1
            }
        }
    }

    private func write(
        _ made: RewrittenBlock, _ block: ScanBlock, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        switch made.outcome {
        case .nothing: break
        case .unchanged: result.unchangedCount += made.unchangedCount
        case .made:
            noteChanged(made, block.entity)
            result.updatedCount += made.count
            result.unchangedCount += made.unchangedCount
            try builder.replace(block.handle, block.entry, by: made)
        case .selected: try take(made, block, fillsBlocks: true, &builder)
        case .small: try take(made, block, fillsBlocks: false, &builder)
        case .failed(let error): throw error
        }
    }

    private func take(
        _ made: RewrittenBlock, _ block: ScanBlock, fillsBlocks: Bool,
        _ builder: inout CommitBuilder
    ) throws(StoreError) {
        guard let cached = made.block else { return }
        made.block = nil
        let slots = UnsafeBufferPointer(start: made.slots, count: made.count)
        try take(cached, block.entity, slots, fillsBlocks: fillsBlocks, &builder)
    }
}
