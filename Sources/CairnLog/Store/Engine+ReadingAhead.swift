import CairnFormat
import CairnStore
import Synchronization

extension Engine {
    /// Calls the body, and concurrently prefetches what it will read.
    func whileReading<Result>(
        _ ahead: ReadingAhead, _ body: () throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        guard ahead.isWorthHelp else { return try body() }
        let reading = SharedReading(ahead)
        let isOver = Atomic(false)
        var outcome: Swift.Result<Result, StoreError>?
        func work() {
            do throws(StoreError) {
                outcome = .success(try body())
            } catch {
                outcome = .failure(error)
            }
            isOver.store(true, ordering: .relaxed)
        }
        reader.crew.together(work) {
            while !isOver.load(ordering: .relaxed), reading.readNext() {}
        }
        guard let outcome else { preconditionFailure("the body has been called") }
        return try outcome.get()
    }
}
