// Passes the batches of a list to helper threads that compare them, while the source of the rows fills more,
// and applies the compared ones.
//
//   1. The source of rows adds each batch when it is sealed.
//   2. A helper takes the oldest batch that no thread has taken, and compares it with what is stored. If
//      there is none, it prefetches what later batches will read.
//   3. The thread that applies the rows takes batches in order: compared if a helper has begun with them,
//      otherwise as they are.
//
// Nothing depends on helpers: objects that they have not found are looked up when the rows are applied.
//
// A helper ends if no batch comes for a while, because others may need it, and it keeps a state readable.
//
// Invariants: a batch belongs to the caller that added it, which changes it only after `take`.
// Threads: any; one of them adds and takes.

import CairnStore

/// The pipeline of a list's batches.
final class ListLine {
    /// A batch of the line.
    final class Item {
        let batch: ColumnBatch
        let firstRow: Int
        fileprivate let found = ComparedRows()
        fileprivate var step = Step.waiting

        fileprivate init(_ batch: ColumnBatch, firstRow: Int) {
            self.batch = batch
            self.firstRow = firstRow
        }
    }

    fileprivate enum Step { case waiting, comparing, done }

    private struct Contents {
        /// Batches that no thread has taken, oldest first, from index `first` on.
        var waiting: [Item] = []
        var first = 0
        var isOver = false

        /// Takes the oldest batch that no thread has taken.
        mutating func next() -> Item? {
            pass()
            guard first < waiting.count else { return nil }
            first += 1
            return waiting[first - 1]
        }

        /// Removes batches that were taken.
        mutating func pass() {
            while first < waiting.count, waiting[first].step != .waiting { first += 1 }
            if first == waiting.count || first > 64 {
                waiting.removeFirst(first)
                first = 0
            }
        }
    }

    private let reader: StoreReader
    private let comparison: ListComparison
    private let contents = Monitor(Contents())
    /// How long a helper waits for a batch, in seconds.
    private static let patience = 0.02
    /// The number of blocks of the entity below which rows are compared before a helper is awake.
    private static let blocksWorthHelp = 8

    /// Nil if helpers cannot help with rows of the entity.
    init?(_ entity: Int, of request: BatchInsertRequest, _ reader: StoreReader) {
        // The outcome of each row is reported when it is applied.
        guard reader.crew.helpers > 0, !request.reportsOutcomes else { return nil }
        let (catalog, blocks) = reader.registry.read {
            ($0.catalog, $0.blocks.count(ofEntity: entity, .full))
        }
        guard blocks >= Self.blocksWorthHelp,
            let comparison = ListComparison(
                entity, catalog, policy: request.mergePolicy ?? .error, setOnly: request.setOnly)
        else { return nil }
        self.reader = reader
        self.comparison = comparison
    }

    // MARK: Who has the rows

    /// Adds a sealed batch.
    func add(_ batch: ColumnBatch, firstRow: Int) -> Item {
        let item = Item(batch, firstRow: firstRow)
        contents.update { $0.waiting.append(item) }
        return item
    }

    /// Takes a batch that is to be applied now. Returns what is known about its rows.
    func take(_ item: Item) -> ComparedRows? {
        contents.wait { contents -> ComparedRows?? in
            switch item.step {
            case .comparing: return nil
            case .done: return .some(item.found)
            case .waiting:
                item.step = .done
                contents.pass()
                return .some(nil)
            }
        }
    }

    /// Calls the body while helpers compare the batches that it adds, and prefetch. The body calls `end` when
    /// it will add no more, or returns.
    func whileComparing<Result>(
        _ ahead: ReadingAhead?, _ body: () throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        contents.withLock { $0.isOver = false }
        let reading = ahead.map { SharedReading($0) }
        var outcome: Swift.Result<Result, StoreError>?
        func work() {
            do throws(StoreError) {
                outcome = .success(try body())
            } catch {
                outcome = .failure(error)
            }
            end()
        }
        reader.crew.together(work) { self.help(reading) }
        guard let outcome else { preconditionFailure("the body has been called") }
        return try outcome.get()
    }

    /// Ends the comparison of batches for now.
    func end() { contents.update { $0.isOver = true } }

    // MARK: Helpers

    private func help(_ reading: SharedReading?) {
        var comparer = ListComparer(comparison, reader)
        while true {
            let (item, isOver) = contents.withLock { contents in
                let item = contents.isOver ? nil : contents.next()
                item?.step = .comparing
                return (item, contents.isOver)
            }
            if isOver { return }
            if let item {
                comparer.compare(item.batch, firstRow: item.firstRow, into: item.found)
                contents.update { _ in item.step = .done }
            } else if reading?.readNext() != true, !waitForMore() {
                return
            }
        }
    }

    /// Waits until there is work; returns false if none comes.
    private func waitForMore() -> Bool {
        let isThere = contents.wait(until: .now + Self.patience) { contents -> Bool? in
            if contents.isOver { return false }
            return contents.first < contents.waiting.count ? true : nil
        }
        return isThere ?? false
    }
}
