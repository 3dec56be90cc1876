// Iterates over the history, some transactions at a time.
//
// What is in it never changes; it may be deleted meanwhile from its beginning.
//
// Threads: one at a time.

import CairnStore

final class PostgresHistoryCursor: PersistentHistoryCursor {
    private let core: StoreCore
    private let ask: ([Statement]) throws(StoreError) -> [PostgresResult]
    /// The last commit that was handed over, and the last one of all.
    private var number: UInt64
    private let last: UInt64
    private var waiting: [PersistentHistoryTransaction] = []
    private var isOver = false

    /// - Parameter ask: asks the server: all answers are of one state.
    init(
        _ core: StoreCore, after number: UInt64, through last: UInt64,
        _ ask: @escaping ([Statement]) throws(StoreError) -> [PostgresResult]
    ) {
        self.core = core
        self.ask = ask
        self.number = number
        self.last = last
    }

    func next() throws(StoreError) -> PersistentHistoryTransaction? {
        if waiting.isEmpty, !isOver {
            let page = HistoryPage(core: core, number: number, last: last)
            let answer = try page.answer(try ask(page.questions))
            waiting = answer.transactions.reversed()
            isOver = !answer.isFull
        }
        guard let transaction = waiting.popLast() else { return nil }
        number = transaction.transactionNumber
        return transaction
    }
}
