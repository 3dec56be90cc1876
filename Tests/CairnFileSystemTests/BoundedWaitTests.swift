// What keeps a test that waits in vain from holding up the whole run.

import CairnTestSupport
import Foundation
import Testing

@Suite("waits of tests")
struct BoundedWaitTests {
    private static func told(_ result: ExitTest.Result?) -> String {
        String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    }

    @Test("a thread that waits too long ends the process, with who waited for what")
    func thread() async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardOutputContent]
        ) {
            // One that ended and one that has time left are not meant.
            inTime(for: "what is there") {}
            inTime(for: "what has time", within: 3600) {
                DispatchSemaphore(value: 0).wait(for: "a signal", within: 0)
            }
        }
        let text = Self.told(result)
        #expect(text.contains("BoundedWaitTests.swift:"))
        #expect(text.contains(" waited 0 seconds in vain for a signal\n"))
        #expect(!text.contains("for what"))
    }

    @Test("a task that waits too long ends the process, with who waited for what")
    func task() async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardOutputContent]
        ) {
            await inTime(for: "nobody", within: 0) {
                while true { await Task.yield() }
            }
        }
        #expect(Self.told(result).contains(" waited 0 seconds in vain for nobody\n"))
    }

    @Test("an element that does not come ends the process, with which one it is")
    func element() async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardOutputContent]
        ) {
            let (numbers, source) = AsyncStream.makeStream(of: Int.self)
            var patient = numbers.inTime().makeAsyncIterator()
            source.yield(7)
            let number = await patient.next(isolation: #isolation)
            precondition(number == 7)
            for await _ in numbers.inTime(within: 0) {}
            withExtendedLifetime(source) {}
        }
        #expect(
            Self.told(result).contains(
                " waited 0 seconds in vain for what follows element 0 of AsyncStream<Int>\n"))
    }

    @Test("a wait that ends in time ends nothing")
    func inTimeAtAll() async {
        await #expect(processExitsWith: .success) {
            for _ in 0..<100 { inTime(for: "nothing", within: 3600) {} }
            let (numbers, source) = AsyncStream.makeStream(of: Int.self)
            source.yield(7)
            source.finish()
            var found: [Int] = []
            for await number in numbers.inTime(within: 3600) { found.append(number) }
            precondition(found == [7])
            // One that has fewer than it began with must not go away.
            let signal = DispatchSemaphore(value: 0)
            signal.signal()
            signal.wait(for: "the signal", within: 3600)
        }
    }
}
