// What hands elements to asynchronous sequences, while listeners come and go.

import CairnTestSupport
import Foundation
import Synchronization
import Testing

@testable import CairnObjects

@Suite("Feeds")
struct FeedTests {
    private struct Told: Numbered {
        var number = 0
        var sender = 0
    }

    private final class Flag: Sendable {
        let isSet = Atomic(false)
    }

    @Test(
        "Listeners that are cancelled while something is sent to them keep nobody waiting",
        .timeLimit(.minutes(5)))
    func cancelled() async {
        let feed = Feed<Told>()
        let isOver = Flag()
        let sending = (0..<2).map { sender in
            Task {
                while !isOver.isSet.load(ordering: .relaxed) {
                    feed.send(Told(sender: sender))
                    await Task.yield()
                }
            }
        }
        for _ in 0..<Campaign.count(3000, whole: 100_000) {
            let listening = Task {
                var last = 0
                for await told in feed.stream(keeping: 4).inTime() {
                    #expect(told.number > last)
                    last = told.number
                }
            }
            await Task.yield()
            listening.cancel()
            await listening.value
        }
        isOver.isSet.store(true, ordering: .relaxed)
        for task in sending { await task.value }
        #expect(!feed.isListenedTo)
    }

    @Test("What several threads send comes to all listeners in one order, and the end comes last")
    func order() async {
        let feed = Feed<Told>()
        let streams = (0..<3).map { _ in feed.stream(keeping: .max) }
        #expect(feed.isListenedTo)
        await withTaskGroup(of: Void.self) { group in
            for sender in 0..<4 {
                group.addTask { for _ in 0..<500 { feed.send(Told(sender: sender)) } }
            }
        }
        let late = feed.stream(keeping: .max)
        feed.finish()
        feed.send(Told())
        var found: [[Int]] = []
        for stream in streams {
            var numbers: [Int] = []
            var senders: [Int] = []
            for await told in stream.inTime() {
                numbers.append(told.number)
                senders.append(told.sender)
            }
            #expect(numbers == Array(1...2000))
            found.append(senders)
        }
        #expect(found[0] == found[1] && found[1] == found[2])
        for await told in late.inTime() { Issue.record("\(told.number) was sent before") }
        for await _ in feed.stream(keeping: 1).inTime() { Issue.record("the feed is over") }
        #expect(!feed.isListenedTo)
    }
}
