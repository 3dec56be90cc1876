// Looks up many keys in several threads.
//
//   1. The calling thread fills keys into items, several ahead.
//   2. Helpers take the oldest item that no thread has taken, and look its keys up. So does the calling
//      thread while the oldest item of all is not done.
//   3. The calling thread passes the rows of the items in their order.
//
// Nothing depends on helpers. A helper ends if no keys come for a while, because others may need it; it is
// asked again after some items.
//
// Invariants: the memory of an item belongs to the thread that has taken it; once it is done, and before it is
// waiting, to the calling thread.
// Threads: one calls `run`; helpers as it states.

import CairnModel
import CairnStore
import Synchronization

/// The pipeline of a lookup of many keys.
final class KeyLookupLine {
    /// Keys that are looked up together, and the rows that were found.
    private final class Item {
        let keys: ColumnBatch
        var found: GatheredRows
        /// The position of the first key.
        var position = 0
        /// The number of keys that were looked up: without the last ones if there was no room for more rows.
        var looked = 0
        var error: StoreError?
        var step = Step.done

        init(_ keys: ColumnBatch, _ found: consuming GatheredRows) {
            self.keys = keys
            self.found = found
        }

        /// Looks up its keys, unless the lookup ends.
        func look(_ lookup: inout KeyLookup, unless isOver: borrowing Atomic<Bool>) {
            looked = 0
            lookup.exchange(&found)
            do throws(StoreError) {
                while looked < keys.rows, !lookup.isFull, !isOver.load(ordering: .relaxed) {
                    looked += try lookup.look(keys, from: looked, position: position)
                }
            } catch {
                self.error = error
            }
            lookup.exchange(&found)
        }
    }

    private enum Step { case waiting, looking, done }

    /// The lookup of a helper: what it has read is of use in the next round.
    private final class Helper {
        var lookup: KeyLookup

        init(_ lookup: consuming KeyLookup) { self.lookup = lookup }
    }

    private struct Contents {
        /// Items that no thread has taken, oldest first.
        var waiting: [Item] = []
        /// Those of helpers that do not run.
        var helpers: [Helper] = []

        /// Takes the oldest item that no thread has taken.
        mutating func next() -> Item? {
            guard let item = waiting.first else { return nil }
            waiting.removeFirst()
            item.step = .looking
            return item
        }
    }

    private let request: StoreLookup
    private let reader: StoreReader
    private let pinned: PinnedState<EngineState>
    private let contents = Monitor(Contents())
    private let isOver = Atomic(false)
    /// The items; those in use are from `first` up to `last`, in a circle.
    private var items: [Item] = []
    private var first = 0
    private var last = 0
    private let most: Int
    /// The position of the next key.
    private var position: Int
    /// Whether there are no more keys.
    private var isEnd = false
    /// How long a helper waits for keys, in seconds.
    private static let patience = 0.02
    /// The number of keys of an item.
    private static let keysOfItem = 256
    private static let mostItems = 8
    /// So many items are passed until helpers are asked again.
    private static let itemsOfRound = 64

    /// The batches of so many items are kept for the next request.
    private static let keptItems = 1

    /// - Parameter position: the position of the first key.
    init(
        _ request: StoreLookup, _ reader: StoreReader, _ pinned: PinnedState<EngineState>,
        position: Int
    ) {
        self.request = request
        self.reader = reader
        self.pinned = pinned
        self.position = position
        most = min(2 * (reader.crew.helpers + 1), Self.mostItems)
    }

    /// Looks up keys, in this thread with `lookup`, and passes the rows until the body returns false.
    func run(
        _ lookup: inout KeyLookup, keys: (borrowing RowWriter) -> Bool,
        _ body: (borrowing RowBatch) -> Bool
    ) throws(StoreError) {
        defer {
            // The others would displace those of commits.
            for item in items.prefix(Self.keptItems) {
                reader.batches.give(item.keys)
                reader.batches.give(item.found.batch)
            }
            for helper in contents.withLock({ $0.helpers }) { helper.lookup.finish() }
        }
        fill(keys)
        // Few keys are looked up before a helper is awake.
        if isEnd, last <= 2 {
            _ = try pass(.max, &lookup, keys, body)
            return
        }
        lookup.share(among: reader.crew.helpers + 1)
        var outcome = Result<Bool, StoreError>.success(true)
        while case .success(true) = outcome {
            isOver.store(false, ordering: .relaxed)
            reader.crew.together {
                do throws(StoreError) {
                    outcome = .success(try pass(Self.itemsOfRound, &lookup, keys, body))
                } catch {
                    outcome = .failure(error)
                }
                // Whoever waits for keys is to notice it.
                contents.update { _ in isOver.store(true, ordering: .relaxed) }
            } helping: {
                help()
            }
        }
        _ = try outcome.get()
    }

    /// Fills keys into the items that are free.
    private func fill(_ keys: (borrowing RowWriter) -> Bool) {
        while !isEnd, last - first < most {
            if last == items.count, last < most { items.append(makeItem()) }
            let item = items[last % most]
            item.keys.reset()
            isEnd = item.keys.fillKeys(upTo: Self.keysOfItem, keys)
            item.position = position
            position += item.keys.rows
            item.step = .waiting
            last += 1
            contents.update { $0.waiting.append(item) }
        }
    }

    private func makeItem() -> Item {
        let entity = pinned.state.catalog.description(of: request.entity.index)
        return Item(
            reader.batches.take(entity),
            GatheredRows(reader.batches.take(entity), columns: request.columns))
    }

    /// Looks up keys, and passes the rows of so many items; returns false if nothing is left to do.
    private func pass(
        _ count: Int, _ lookup: inout KeyLookup, _ keys: (borrowing RowWriter) -> Bool,
        _ body: (borrowing RowBatch) -> Bool
    ) throws(StoreError) -> Bool {
        var passed = 0
        while passed < count {
            fill(keys)
            if first == last { return false }
            let oldest = items[first % most]
            // Whatever is next, unless the oldest one is done: the loop goes on until that is the case.
            let next = contents.wait { contents -> Item?? in
                if oldest.step == .done { return .some(nil) }
                return contents.next().map { .some($0) }
            }
            if let next {
                next.look(&lookup, unless: isOver)
                contents.withLock { _ in next.step = .done }
                continue
            }
            first += 1
            passed += 1
            if let error = oldest.error { throw error }
            guard oldest.found.hand(origin: lookup.origin, to: body) else { return false }
            if oldest.looked < oldest.keys.rows {
                guard
                    try lookup.look(
                        oldest.keys, from: oldest.looked, position: oldest.position, body),
                    lookup.flush(body)
                else { return false }
            }
        }
        return true
    }

    private func help() {
        guard let helper = contents.withLock({ $0.helpers.popLast() }) ?? makeHelper() else {
            return
        }
        while true {
            let item = contents.wait(until: .now + Self.patience) { contents -> Item?? in
                if isOver.load(ordering: .relaxed) { return .some(nil) }
                return contents.next().map { .some($0) }
            }
            guard let item, let item else { break }
            item.look(&helper.lookup, unless: isOver)
            contents.update { _ in item.step = .done }
        }
        contents.withLock { $0.helpers.append(helper) }
    }

    private func makeHelper() -> Helper? {
        // The calling thread has made one of the same request.
        guard var lookup = try? KeyLookup(request, reader, pinned) else { return nil }
        lookup.share(among: reader.crew.helpers + 1)
        return Helper(lookup)
    }
}
