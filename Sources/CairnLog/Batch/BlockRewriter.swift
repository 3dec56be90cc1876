// Rewrites the blocks of a batch update, on any thread.
//
// It does what the columns of a block alone allow: constants and arithmetic, for blocks in which so many rows
// change that all stay together. Everything else, such as keys, references, derived attributes, or the
// evaluation of an expression object by object, is left to the holder of the write lock.
//
// Threads: one owner; the state that is read is pinned by whoever waits for it.

import CairnFormat
import CairnStore

/// Rewrites blocks one after another.
final class BlockRewriter {
    private let plan: BatchUpdatePlan
    private let reader: StoreReader
    private let runner: FetchRunner
    private let sizes: StoreSizes
    /// Whether written blocks may be packed. No later segment allows less.
    private let isPacking: Bool
    private let noted: [Int]
    private var targets: [Int: UpdateTarget] = [:]
    /// The last rewritten block. It is kept until the next one is there, so that their memory is not freed
    /// and allocated for each.
    private var last: CachedBlock?
    private var encoder = RowBlockEncoder()
    private let scratch = ScanScratch()
    private let rows = UnsafeMutablePointer<UInt16>.allocate(capacity: FormatLimits.maximumRows)

    init(_ plan: BatchUpdatePlan, _ runner: FetchRunner, _ noted: [Int], _ sizes: StoreSizes) {
        self.plan = plan
        reader = runner.reader
        self.runner = runner
        self.noted = noted
        self.sizes = sizes
        isPacking = runner.state.segments.current.header.flags.allowsPackedColumns
    }

    deinit {
        rows.deallocate()
        for target in targets.values { target.end(reader.batches) }
    }

    /// Rewrites a block as far as possible here.
    func make(_ block: ScanBlock, into result: RewrittenBlock) {
        do throws(StoreError) {
            result.outcome = try outcome(of: block, result)
        } catch {
            result.outcome = .failed(error)
        }
    }

    private func outcome(of block: ScanBlock, _ result: RewrittenBlock) throws(StoreError)
        -> RewrittenBlock.Outcome
    {
        // If all rows match, the block is soon replaced.
        let (cached, count) = try runner.pick(
            block, noted, scratch, isPassing: runner.filter == nil)
        last = cached
        if count == 0 { return .nothing }
        let target = target(of: block.entity)
        let slots = UnsafeBufferPointer(start: scratch.slots, count: count)
        var outcome = RewrittenBlock.Outcome.selected
        if target.keepsTogether(cached, block.entry, runner.catalog, changes: count),
            try target.calculate(cached, slots)
        {
            let view = try target.views.make(cached, target.stored, entity: block.entity)
            defer { view.free() }
            let changed = UnsafeBufferPointer(
                start: rows, count: try target.changes(view, slots, into: rows))
            result.unchangedCount = count - changed.count
            if changed.isEmpty { return .unchanged }
            if target.areSmall(count, sizes),
                target.keepsTogether(
                    cached, block.entry, runner.catalog, changes: changed.count)
            {
                var values = target.values
                if !UpdateTarget.isWorthABlock(changed.count, of: cached.rows),
                    target.areMost(of: cached)
                {
                    select(slots, of: cached, result)
                    return .small
                } else if changed.count == cached.rows {
                    try result.take(cached)
                } else if try target.spread(cached.rows, view, slots, changed) {
                    try result.take(cached, slots, changed)
                    values = target.gathered.batch
                } else {
                    select(slots, of: cached, result)
                    return .selected
                }
                if try result.make(
                    cached, target, values, runner.catalog, sizes, isPacking: isPacking, &encoder)
                {
                    return .made
                }
                outcome = .small
            }
        }
        select(slots, of: cached, result)
        return outcome
    }

    /// Leaves rows to the holder of the write lock.
    private func select(
        _ slots: UnsafeBufferPointer<UInt16>, of cached: CachedBlock, _ result: RewrittenBlock
    ) {
        result.block = cached
        result.count = slots.count
        result.slots.update(from: scratch.slots, count: slots.count)
    }

    private func target(of entity: Int) -> UpdateTarget {
        if let known = targets[entity] { return known }
        let target = UpdateTarget(
            plan, entity: entity, catalog: runner.catalog, batches: reader.batches)
        targets[entity] = target
        return target
    }
}
