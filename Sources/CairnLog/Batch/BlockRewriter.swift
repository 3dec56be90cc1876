// Rewrites the blocks of a batch update, on any thread.
//
// It does what can be done with the columns of a block alone: constants and arithmetic, for blocks of which so many rows change
// that all stay together. What takes more, as keys, references, derived attributes, or the evaluation of an expression object by object,
// is left to the holder of the turn.
//
// Threads: one owner; the state that is read is pinned by whoever waits for it.

import CairnFormat
import CairnStore

/// Rewrites blocks, one after the other.
final class BlockRewriter {
    private let plan: BatchUpdatePlan
    private let reader: StoreReader
    private let runner: FetchRunner
    private let sizes: StoreSizes
    /// Whether what is written may be packed. No later segment says less.
    private let isPacking: Bool
    private let noted: [Int]
    private var targets: [Int: UpdateTarget] = [:]
    /// The block that was made last. It goes when the next one is there, so that their memory is not given back and asked for
    /// with each.
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

    /// Makes a block anew as far as that can be done here.
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
        // Where all rows are wanted, the block will be gone soon.
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

    /// Leaves rows to the holder of the turn.
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
