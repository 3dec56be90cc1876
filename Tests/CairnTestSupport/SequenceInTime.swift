// A sequence for tests that wait for its elements: one that does not come ends the process with who waited.

extension AsyncSequence {
    /// The sequence, each element of which has to come in time: else the process ends with who waited for it.
    package func inTime(
        within seconds: Int = OpenWait.patienceWithTasks, _ file: StaticString = #fileID,
        _ line: UInt = #line
    ) -> SequenceInTime<Self> {
        SequenceInTime(base: self, who: "\(file):\(line)", seconds: seconds)
    }
}

/// What `inTime` makes of a sequence.
package struct SequenceInTime<Base: AsyncSequence>: AsyncSequence {
    package typealias Failure = Base.Failure
    let base: Base
    let who: String
    let seconds: Int

    package struct AsyncIterator: AsyncIteratorProtocol {
        var base: Base.AsyncIterator
        let who: String
        let seconds: Int
        var count = 0

        package mutating func next() async throws(Base.Failure) -> Base.Element? {
            try await next(isolation: #isolation)
        }

        package mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(Base.Failure) -> Base.Element? {
            let wait = OpenWait(
                who, for: "what follows element \(count) of \(Base.self)", within: seconds)
            defer { wait.end() }
            count += 1
            return try await base.next(isolation: actor)
        }
    }

    package func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base: base.makeAsyncIterator(), who: who, seconds: seconds)
    }
}

extension SequenceInTime: Sendable where Base: Sendable {}
