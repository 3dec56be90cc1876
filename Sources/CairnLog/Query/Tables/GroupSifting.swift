// The groups of a scan if only groups of two or more rows are requested and nearly every row is a group of
// its own.
//
//   1. Each thread records the hashes of the keys of the blocks that it takes in a sieve; then the sieves are
//      merged.
//   2. Some blocks at a time: each thread takes blocks and lists the rows whose keys occurred again, in parts
//      by their hashes; then it takes parts, and groups their rows. A group is complete in one part, and its
//      rows come in the order of the scan.
//   3. The wanted groups of all parts are merged.
//
// Threads: one reading, with helpers that end before it goes on. They use what is immutable, and what is of the block, the
// part or the place in a list that they took.

import CairnFormat
import CairnStore
import Synchronization

struct GroupSifting {
    private let runner: FetchRunner
    private let blocks: [ScanBlock]
    private let noted: [Int]
    /// One for each thread that may participate.
    private let parts: [GroupRunner]
    private let workers: [Worker]

    /// - Parameter group: creates the instance that groups the rows of a part.
    init(_ runner: FetchRunner, group: () throws(StoreError) -> GroupRunner) throws(StoreError) {
        self.runner = runner
        let list = runner.scanned()
        (blocks, noted) = (list.blocks, list.noted)
        var parts = [try group()]
        if parts[0].canBeParts, runner.canBeHelped(blocks) {
            while parts.count <= runner.reader.crew.helpers { parts.append(try group()) }
        }
        self.parts = parts
        workers = parts.map { _ in Worker() }
    }

    /// The groups; nil if their keys cannot be hashed.
    func groups() throws(StoreError) -> GroupRunner? {
        guard let sieve = try sieve() else { return nil }
        let list = List(parts: parts.count)
        // If several keys share a place, at least two of them pass. Parts are nearly equal.
        for part in parts { part.reserve(sieve.again * 2 / parts.count) }
        var start = 0
        while start < blocks.count {
            let end = runner.end(of: start, FetchRunner.mostAhead, blocks)
            try fill(list, start..<end, sieve)
            try take(list)
            start = end
        }
        for part in parts.dropFirst() { parts[0].absorb(part) }
        return parts[0]
    }

    // MARK: Passes

    /// Records the hashes of all keys; nil if there are keys that cannot be hashed.
    private func sieve() throws(StoreError) -> GroupSieve? {
        let known = blocks.reduce(0) { $0 + Int($1.entry.live) }
        for block in blocks { runner.note(block) }
        let isDone = try each(blocks.indices) { worker, index throws(StoreError) in
            guard let (_, hashes) = try hashed(blocks[index], worker) else { return false }
            let sieve = worker.sieve ?? GroupSieve(rows: known, others: parts.count - 1)
            worker.sieve = sieve
            sieve.note(hashes)
            return true
        }
        if !isDone { return nil }
        let sieves = workers.compactMap(\.sieve)
        for sieve in sieves.dropFirst() { sieves[0].note(sieve) }
        for worker in workers { worker.sieve = nil }
        return sieves.first
    }

    /// Lists the rows of some blocks whose keys occurred again.
    private func fill(_ list: List, _ range: Range<Int>, _ sieve: GroupSieve) throws(StoreError) {
        for block in blocks[range] { runner.note(block) }
        list.first = range.lowerBound
        list.blocks.removeAll(keepingCapacity: true)
        list.blocks.append(contentsOf: repeatElement(nil, count: range.count))
        _ = try list.blocks.withUnsafeMutableBufferPointer { cached throws(StoreError) in
            try each(range) { worker, index throws(StoreError) in
                // The zones of its values have been noted.
                var listed = blocks[index]
                listed.look = .plainly
                guard let (block, hashes) = try hashed(listed, worker) else {
                    preconditionFailure("the keys were hashed before")
                }
                let slots = UnsafeMutableBufferPointer(
                    start: worker.scratch.slots, count: hashes.count)
                let kept = sieve.reduce(slots, worker.hashes)
                if kept > 0 { cached[index - range.lowerBound] = block }
                list.place(index - range.lowerBound, slots.baseAddress, worker.hashes, kept)
                return true
            }
        }
    }

    /// Groups the listed rows.
    private func take(_ list: List) throws(StoreError) {
        _ = try each(parts.indices) { _, part throws(StoreError) in
            for (place, block) in list.blocks.enumerated() {
                guard let block else { continue }
                let (slots, hashes) = list.rows(place, part)
                if slots.isEmpty { continue }
                try parts[part].take(
                    block, of: blocks[list.first + place].entity, slots, hashes: hashes)
            }
            return true
        }
    }

    /// Returns the rows of a block that match, in the worker's list of slots, and the hashes of their keys.
    private func hashed(_ block: ScanBlock, _ worker: Worker) throws(StoreError)
        -> (block: CachedBlock, hashes: UnsafeBufferPointer<UInt64>)?
    {
        let (cached, count) = try runner.pick(block, noted, worker.scratch)
        let slots = UnsafeBufferPointer(start: worker.scratch.slots, count: count)
        // A block without matches needs no further processing.
        if count > 0 {
            guard try parts[0].hash(cached, of: block.entity, slots, into: worker.hashes) else {
                return nil
            }
        }
        return (cached, UnsafeBufferPointer(start: worker.hashes, count: count))
    }

    /// Returns the part that a hash belongs to.
    @inline(__always)
    static func part(_ hash: UInt64, of parts: Int) -> Int {
        // The numbering of values uses the upper bits.
        Int(truncatingIfNeeded: ((hash & 0xFFFF) &* UInt64(parts)) &>> 16)
    }

    // MARK: Threads

    /// Calls a closure with each number of a range, in several threads, until it returns false; returns
    /// whether it never did.
    private func each(
        _ range: Range<Int>, _ body: (Worker, Int) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        let free = Atomic(0)
        let next = Atomic(range.lowerBound)
        let outcome = Mutex((isDone: true, error: StoreError?.none))
        func work() {
            let worker = workers[free.wrappingAdd(1, ordering: .relaxed).oldValue]
            var isDone = true
            do throws(StoreError) {
                while isDone {
                    let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
                    if index >= range.upperBound { return }
                    isDone = try body(worker, index)
                }
                outcome.withLock { $0.isDone = false }
            } catch {
                outcome.withLock { $0.error = error }
            }
            next.store(range.upperBound, ordering: .relaxed)
        }
        if parts.count == 1 { work() } else { runner.reader.crew.together(work) }
        let (isDone, error) = outcome.withLock { $0 }
        if let error { throw error }
        return isDone
    }

    /// The memory of one thread.
    private final class Worker {
        let scratch = ScanScratch()
        let hashes = UnsafeMutablePointer<UInt64>.allocate(capacity: FormatLimits.maximumRows + 8)
        var sieve: GroupSieve?

        deinit { hashes.deallocate() }
    }

    /// The rows of some blocks, by parts.
    private final class List {
        /// The position of the first of these blocks among all.
        var first = 0
        /// The blocks that have rows.
        var blocks: [CachedBlock?] = []
        private let parts: Int
        private let width = FormatLimits.maximumRows + 8
        private let slots: UnsafeMutablePointer<UInt16>
        private let hashes: UnsafeMutablePointer<UInt64>
        /// The end of the rows of each part of a block; one more for building them.
        private let ends: UnsafeMutablePointer<Int>

        init(parts: Int) {
            self.parts = parts
            slots = .allocate(capacity: FetchRunner.mostAhead * width)
            hashes = .allocate(capacity: FetchRunner.mostAhead * width)
            ends = .allocate(capacity: FetchRunner.mostAhead * (parts + 1))
        }

        deinit {
            slots.deallocate()
            hashes.deallocate()
            ends.deallocate()
        }

        /// Lists the rows of a block.
        func place(
            _ block: Int, _ slots: UnsafePointer<UInt16>?, _ hashes: UnsafePointer<UInt64>,
            _ count: Int
        ) {
            let ends = self.ends + block * (parts + 1)
            ends.update(repeating: 0, count: parts + 1)
            guard let slots else { return }
            for row in 0..<count { ends[GroupSifting.part(hashes[row], of: parts)] &+= 1 }
            // The start of each part; it has become the end once all are placed.
            var start = 0
            for part in 0...parts { (ends[part], start) = (start, start + ends[part]) }
            let (placed, hashed) = (self.slots + block * width, self.hashes + block * width)
            for row in 0..<count {
                let part = GroupSifting.part(hashes[row], of: parts)
                placed[ends[part]] = slots[row]
                hashed[ends[part]] = hashes[row]
                ends[part] &+= 1
            }
        }

        /// Returns the rows of a part of a block, and their hashes.
        func rows(_ block: Int, _ part: Int)
            -> (slots: UnsafeBufferPointer<UInt16>, hashes: UnsafePointer<UInt64>)
        {
            let ends = self.ends + block * (parts + 1)
            let start = part == 0 ? 0 : ends[part - 1]
            return (
                UnsafeBufferPointer(
                    start: slots + block * width + start, count: ends[part] - start),
                UnsafePointer(hashes + block * width + start)
            )
        }
    }
}
