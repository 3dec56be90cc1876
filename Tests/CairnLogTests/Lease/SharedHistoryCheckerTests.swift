// The checker of histories finds what it is to find, and nothing in what is right.
//
// Histories are made by hand: each operation with the times at which it began and ended. Time is counted in steps.

import CairnKilledWriter
import CairnTestSupport
import Testing

@testable import CairnLog

@Suite("The checker of what several processes did")
struct SharedHistoryCheckerTests {
    /// A history that grows by hand.
    private struct Story {
        var history = SharedHistory(start: 10)
        private var number = 0
        private(set) var content = SharedContent()

        /// An operation of a process from one moment to another one.
        ///
        /// - Parameters:
        ///   - commit: the commit that it is, by the store's order.
        ///   - says: what it said itself; nil: that it is that commit.
        @discardableResult
        mutating func add(
            _ process: Int, _ times: ClosedRange<UInt64>, _ operation: SharedOperation,
            commit: UInt64? = nil, says outcome: SharedStore.Outcome? = nil,
            isKilled: Bool = false, isDurable: Bool = true
        ) -> Int64 {
            number += 1
            let stamp = Sharer.stamp(number, thread: 0, slot: process)
            if let commit {
                history.commits.append(.init(number: commit, stamp: stamp))
                content.apply(operation, stamp: stamp)
            }
            history.events.append(
                .init(
                    stamp: stamp, operation: operation, observer: process, isDurable: isDurable,
                    invoked: times.lowerBound, ended: times.upperBound,
                    outcome: isKilled ? nil : outcome ?? commit.map { .committed($0) }))
            return stamp
        }

        /// What is there now is read at a commit.
        mutating func read(
            _ process: Int, _ times: ClosedRange<UInt64>, at commit: UInt64,
            _ operation: SharedOperation = .look, isDurable: Bool = true,
            _ change: (inout SharedContent) -> Void = { _ in }
        ) {
            var found = content
            change(&found)
            add(process, times, operation, says: .read(commit, found), isDurable: isDurable)
        }

        var kinds: Set<SharedHistoryChecker.Violation.Kind> {
            Set(SharedHistoryChecker.check(history).map(\.kind))
        }
    }

    @Test("A right history has nothing wrong with it: of overlapping operations each may be first")
    func right() {
        var story = Story()
        let first = story.add(1, 1...9, .set([1, 2]), commit: 11)
        story.read(2, 2...3, at: 11)
        story.add(2, 4...12, .move(from: 0, to: 1, amount: 5), commit: 13)
        story.add(3, 5...6, .claim(1), says: .nothing(11))
        story.add(3, 7...8, .drop([3]), says: .nothing(11))
        story.add(3, 10...14, .drop([2, 3]), commit: 14)
        story.add(1, 15...16, .renew(1, seen: first), commit: 15)
        story.add(2, 17...18, .renew(1, seen: first), says: .nothing(15))
        story.read(3, 19...20, at: 15, .refresh)
        story.add(3, 21...22, .compact, says: .done)
        story.add(1, 23...24, .drop([1]), commit: 16)
        // Who deletes what another one has deleted meanwhile has no conflict.
        story.add(2, 25...26, .renew(1, seen: first), commit: 17)
        story.history.end = (18, story.content)
        #expect(SharedHistoryChecker.check(story.history) == [])
    }

    @Test("An old read has its place, as long as nobody has refreshed and nobody goes back")
    func old() {
        var story = Story()
        let old = story.content
        story.add(1, 1...2, .set([1]), commit: 11)
        story.add(2, 3...4, .look, says: .read(10, old))
        story.read(2, 5...6, at: 11)
        #expect(SharedHistoryChecker.check(story.history) == [])
        story.add(2, 7...8, .look, says: .read(10, old))
        #expect(story.kinds == [.wentBack])
    }

    @Test("A commit that returned and is not there, or is another one")
    func lost() {
        var story = Story()
        story.add(1, 1...2, .set([1]), says: .committed(11))
        #expect(story.kinds == [.lostCommit])
        story = Story()
        story.add(1, 1...2, .set([1]), commit: 12, says: .committed(11))
        #expect(story.kinds == [.wrongNumber])
        story = Story()
        story.history.commits.append(.init(number: 11, stamp: 77))
        #expect(story.kinds == [.strangeCommit])
        story = Story()
        let stamp = story.add(1, 1...2, .set([1]), commit: 11)
        story.history.commits.append(.init(number: 12, stamp: stamp))
        #expect(story.kinds.contains(.strangeCommit))
        story = Story()
        story.add(1, 1...2, .claim(1), commit: 11, says: .nothing(10))
        #expect(story.kinds.contains(.strangeCommit))
    }

    @Test("A lost update: one of two transfers stands on what the other one has not changed yet")
    func lostUpdate() {
        var story = Story()
        story.add(1, 1...2, .move(from: 0, to: 1, amount: 5), commit: 11)
        let stamp = story.add(2, 1...3, .move(from: 0, to: 2, amount: 7), commit: 12)
        story.read(1, 4...5, at: 12) {
            $0.accounts[0] = .init(balance: SharedContent.firstBalance - 7, stamp: stamp)
        }
        #expect(story.kinds == [.wrongSum, .wrongContent])
    }

    @Test("Writes over what was not seen, and deletions of what is not there")
    func unseen() {
        var story = Story()
        let first = story.add(1, 1...2, .set([1]), commit: 11)
        story.add(2, 3...4, .set([1]), commit: 12)
        story.add(1, 5...6, .renew(1, seen: first), commit: 13)
        #expect(story.kinds == [.wrongWrite])
        story = Story()
        story.add(1, 1...2, .set([1]), commit: 11)
        story.add(1, 3...4, .claim(1), commit: 12)
        #expect(story.kinds == [.wrongWrite])
        story = Story()
        story.add(1, 1...2, .drop([1, 2]), commit: 11)
        #expect(story.kinds == [.wrongWrite])
    }

    @Test("A refresh that does not show what was durable, and one that need not")
    func stale() {
        for isDurable in [true, false] {
            for operation in [SharedOperation.refresh, .open] {
                var story = Story()
                let old = story.content
                story.add(1, 1...2, .set([1]), commit: 11, isDurable: isDurable)
                story.add(2, 3...4, operation, says: .read(10, old))
                #expect(story.kinds == (isDurable ? [.staleRead] : []))
            }
        }
        // Begun before the commit had returned.
        var story = Story()
        let old = story.content
        story.add(1, 1...4, .set([1]), commit: 11)
        story.add(2, 3...5, .refresh, says: .read(10, old))
        #expect(story.kinds == [])
        // What somebody was shown is not hidden from others.
        story = Story()
        story.add(1, 1...9, .set([1]), commit: 11)
        story.read(2, 2...3, at: 11)
        story.add(3, 4...5, .refresh, says: .read(10, old))
        #expect(story.kinds == [.staleRead])
    }

    @Test("A commit before one that had returned, or had been seen, when it was begun")
    func order() {
        var story = Story()
        story.add(2, 3...4, .set([2]), commit: 11)
        story.add(1, 1...2, .set([1]), commit: 12)
        #expect(story.kinds == [.wrongOrder])
        // Seen by a third one, and not returned yet.
        story = Story()
        story.add(2, 5...6, .set([2]), commit: 11)
        story.add(1, 1...9, .set([1]), commit: 12)
        story.read(3, 2...3, at: 12)
        #expect(story.kinds == [.wrongOrder])
    }

    @Test("A process that is dead commits nothing; before that it may have, without a word")
    func killed() {
        var story = Story()
        story.add(1, 1...5, .set([1]), commit: 11, isKilled: true)
        story.add(2, 2...6, .set([2]), isKilled: true)
        story.read(3, 7...8, at: 11)
        #expect(story.kinds == [])
        story = Story()
        story.add(2, 7...8, .set([2]), commit: 11)
        story.add(1, 1...5, .set([1]), commit: 12, isKilled: true)
        #expect(story.kinds == [.wrongOrder])
    }

    @Test("What is read is of one commit and of no other, has each key once, and the right sum")
    func content() {
        var story = Story()
        story.add(1, 1...2, .set([1]), commit: 11)
        let between = story.content
        story.add(1, 3...4, .drop([1]), commit: 12)
        story.add(2, 5...6, .look, says: .read(12, between))
        #expect(story.kinds == [.wrongContent])
        story = Story()
        story.add(1, 1...2, .set([1]), commit: 11)
        story.read(2, 3...4, at: 11) { $0.wrongKeys = ["1"] }
        #expect(story.kinds == [.duplicateKey])
        story = Story()
        story.read(2, 3...4, at: 10) { $0.accounts[3].balance -= 1 }
        #expect(story.kinds == [.wrongSum, .wrongContent])
        story = Story()
        story.add(1, 1...2, .set([1]), commit: 11)
        story.history.end = (11, SharedContent())
        #expect(story.kinds == [.wrongContent])
        story.history.end = (10, SharedContent())
        #expect(story.kinds == [.wentBack])
    }

    @Test("A refusal has a reason at some commit while it was asked for")
    func refusals() {
        var story = Story()
        let first = story.add(1, 1...2, .set([1]), commit: 11)
        story.add(1, 3...9, .drop([1]), commit: 12)
        let right = story
        // In time: it is there at commit 11, and away at commit 12.
        story.add(2, 4...10, .claim(1), says: .nothing(12))
        story.add(3, 4...10, .drop([1]), says: .nothing(12))
        story.add(4, 4...10, .renew(1, seen: first), says: .nothing(12))
        #expect(story.kinds == [])
        story = right
        story.add(2, 10...11, .claim(1), says: .nothing(12))
        #expect(story.kinds == [.wrongRefusal])
        story = right
        story.add(3, 4...5, .drop([1]), says: .nothing(11))
        #expect(story.kinds == [.wrongRefusal])
        story = right
        story.read(4, 4...5, at: 11) { $0.registers[1] = first }
        story.add(4, 6...7, .renew(1, seen: first), says: .nothing(11))
        #expect(story.kinds == [.wrongRefusal])
        // Asked for with the turn, in a state that is older than what somebody had seen.
        story = right
        story.add(4, 10...11, .claim(1), says: .nothing(11))
        #expect(story.kinds == [.wrongRefusal])
    }

    @Test("Words say the same as operations and outcomes")
    func words() throws {
        let operations: [SharedOperation] = [
            .set([1, 2, 23]), .drop([0]), .claim(3), .renew(4, seen: 99),
            .move(from: 1, to: 7, amount: 12), .look, .refresh, .open, .backup, .check, .compact,
        ]
        for operation in operations {
            #expect(SharedOperation(operation.text.split(separator: " ")) == operation)
        }
        #expect(SharedOperation("move 1 2".split(separator: " ")) == nil)
        #expect(SharedOperation("set x".split(separator: " ")) == nil)
        var content = SharedContent()
        content.apply(.set([3, 5]), stamp: 1234)
        content.apply(.move(from: 1, to: 2, amount: 30), stamp: 1235)
        content.wrongKeys = ["3"]
        let words = SharedStore.Outcome.read(17, content).text.split(separator: " ")
        guard case .read(17, let read)? = SharedStore.Outcome(words) else {
            Issue.record("no outcome: \(words)")
            return
        }
        #expect(read == content)
        // An account that nobody has found is missed in the sum.
        let rest = content.text.replacing(/a7=\S+/, with: "").split(separator: " ")
        #expect(SharedContent(rest)?.sum == 7 * SharedContent.firstBalance)
    }
}
