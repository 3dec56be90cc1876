// Whether what several processes did to one store can have been done one after the other, in an order in which whatever
// had returned comes before whatever was begun later: strict serialisability.
//
// No order is searched for: the store says in which order it made the commits. So it is enough to see that
//
//   1. each commit that returned is in that order, at the number that it returned, and none that nobody began
//   2. a commit comes behind all that had been committed or seen by anybody when it was begun; one of a process that was
//      killed, before all that was begun when the process was dead
//   3. what is read at a commit is what the commits up to it leave, done one after the other
//   4. no process sees an older state than before, and who refreshes sees at least what was durable when it did so
//   5. what was refused can have been refused at some commit from those on that had been seen when it was asked for, up to
//      the newest one that was known when it returned
//
// A read that was not refreshed may be old; it has its place at its commit.
// Cost: O(n log n) for n operations.

import CairnKilledWriter

/// Checks one history.
struct SharedHistoryChecker {
    /// What is wrong.
    struct Violation: Hashable, CustomStringConvertible {
        enum Kind {
            /// A commit that returned is not in the store's order.
            case lostCommit
            /// A commit returned another number than it has.
            case wrongNumber
            /// A commit of nobody who began one, of something that was refused, or two with one number or of one operation.
            case strangeCommit
            /// A commit is before one that had returned or was seen when it was begun.
            case wrongOrder
            /// What was read is not what the commits leave.
            case wrongContent
            /// The accounts have not the sum that they must have.
            case wrongSum
            /// A key is there twice.
            case duplicateKey
            /// Who refreshed did not see what was durable.
            case staleRead
            /// A process saw an older state than before.
            case wentBack
            /// Something was refused without a reason.
            case wrongRefusal
            /// Something was done that something stood against.
            case wrongWrite
        }

        let kind: Kind
        let what: String
        var description: String { "\(kind): \(what)" }
    }

    private let history: SharedHistory
    private var violations: [Violation] = []
    /// By stamp.
    private var events: [Int64: Int] = [:]
    /// By event: the number of its commit, if it has one.
    private var commits: [UInt64?]
    /// By register: its stamps, and the commits from which on it had them.
    private var versions: [[(commit: UInt64, stamp: Int64)]] = []

    private init(_ history: SharedHistory) {
        self.history = history
        commits = Array(repeating: nil, count: history.events.count)
    }

    /// What is wrong with a history; nothing if it is strictly serialisable.
    static func check(_ history: SharedHistory) -> [Violation] {
        var checker = Self(history)
        checker.findCommits()
        checker.replay()
        checker.compareTimes()
        return checker.violations
    }

    private mutating func find(_ kind: Violation.Kind, _ what: String) {
        // The first ones say what is wrong.
        if violations.count < 100 { violations.append(Violation(kind: kind, what: what)) }
    }

    private func name(_ event: SharedHistory.Event) -> String {
        "\(Sharer.name(event.stamp)), \(event.operation.text)"
    }

    // MARK: 1: which operation made which commit

    private mutating func findCommits() {
        for (index, event) in history.events.enumerated() {
            if events.updateValue(index, forKey: event.stamp) != nil {
                find(.strangeCommit, "\(name(event)) was begun twice")
            }
        }
        var last = history.start
        for commit in history.commits {
            if commit.number <= last {
                find(.strangeCommit, "commit \(commit.number) comes behind commit \(last)")
            }
            last = max(last, commit.number)
            guard let index = events[commit.stamp] else {
                find(.strangeCommit, "nobody has begun commit \(commit.number), \(commit.stamp)")
                continue
            }
            if let other = commits[index] {
                find(
                    .strangeCommit,
                    "\(name(history.events[index])) is commit \(commit.number) and \(other)")
            }
            commits[index] = commit.number
        }
        for (index, event) in history.events.enumerated() {
            switch (event.outcome, commits[index]) {
            case (.committed(let told), let commit?) where told != commit:
                find(.wrongNumber, "\(name(event)) said commit \(told) and is \(commit)")
            case (.committed(let told), nil):
                find(.lostCommit, "\(name(event)) said commit \(told), which is not there")
            case (.nothing, let commit?), (.read, let commit?), (.done, let commit?):
                find(.strangeCommit, "\(name(event)) said nothing of its commit \(commit)")
            default: break
            }
        }
    }

    // MARK: 3: the commits one after the other

    private mutating func replay() {
        var content = history.content
        let sum = content.sum
        versions = content.registers.map { [(history.start, $0)] }
        var reads: [(commit: UInt64, content: SharedContent, name: String)] = []
        for event in history.events {
            guard case .read(let commit, let found) = event.outcome else { continue }
            reads.append((commit, found, name(event)))
        }
        if let end = history.end { reads.append((end.commit, end.content, "the last look")) }
        reads.sort { $0.commit < $1.commit }
        var next = 0
        for read in reads {
            while next < history.commits.count, history.commits[next].number <= read.commit {
                apply(history.commits[next], to: &content)
                next += 1
            }
            compare(read.content, content, sum, "\(read.name), commit \(read.commit)")
        }
        for commit in history.commits[next...] { apply(commit, to: &content) }
        if let end = history.end, let last = history.commits.last, last.number > end.commit {
            find(.wentBack, "the last look shows commit \(end.commit), but \(last.number) was made")
        }
    }

    private mutating func apply(_ commit: SharedHistory.Commit, to content: inout SharedContent) {
        guard let index = events[commit.stamp] else { return }
        let event = history.events[index]
        let before = content.registers
        switch event.operation {
        case .claim(let number) where before[number] != 0:
            find(.wrongWrite, "\(name(event)) made a register that was there: \(before[number])")
        // An object that two delete is deleted: that is no conflict.
        case .renew(let number, let seen) where before[number] != seen && before[number] != 0:
            find(.wrongWrite, "\(name(event)) replaced what it had not seen: \(before[number])")
        case .drop(let numbers) where numbers.allSatisfy { before[$0] == 0 }:
            find(.wrongWrite, "\(name(event)) deleted registers that were not there")
        case let operation where !operation.isWrite:
            find(.strangeCommit, "\(name(event)) made commit \(commit.number)")
        default: break
        }
        content.apply(event.operation, stamp: commit.stamp)
        for number in content.registers.indices where content.registers[number] != before[number] {
            versions[number].append((commit.number, content.registers[number]))
        }
    }

    private mutating func compare(
        _ found: SharedContent, _ expected: SharedContent, _ sum: Int64, _ name: String
    ) {
        for key in found.wrongKeys { find(.duplicateKey, "\(name): key \(key)") }
        if found.sum != sum { find(.wrongSum, "\(name): \(found.sum) instead of \(sum)") }
        for number in found.registers.indices
        where found.registers[number] != expected.registers[number] {
            find(
                .wrongContent,
                "\(name): register \(number) is \(found.registers[number]), not "
                    + "\(expected.registers[number])")
        }
        for number in found.accounts.indices
        where found.accounts[number] != expected.accounts[number] {
            find(
                .wrongContent,
                "\(name): account \(number) is \(found.accounts[number]), not "
                    + "\(expected.accounts[number])")
        }
    }

    // MARK: 2, 4, 5: times

    /// What was known of the commits when something ended.
    private struct Known {
        let time: UInt64
        let commit: UInt64
        let event: Int
        let isDurable: Bool
        /// Whether the process has said so: else it may not have come to see what it committed.
        let isSeen: Bool
    }

    /// The newest commit of some, and who told of it.
    private struct Newest {
        var commit: UInt64
        var event: Int?

        mutating func take(_ known: Known) {
            guard known.commit > commit || event == nil && known.commit == commit else { return }
            commit = known.commit
            event = known.event
        }
    }

    /// The commit that an event is at or behind of.
    private func commit(of event: Int) -> UInt64? {
        if let commit = commits[event] { return commit }
        switch history.events[event].outcome {
        case .read(let commit, _), .nothing(let commit), .committed(let commit): return commit
        case .done, nil: return nil
        }
    }

    private mutating func compareTimes() {
        let ends = history.events.indices.compactMap { index -> Known? in
            let event = history.events[index]
            guard let commit = commit(of: index) else { return nil }
            return Known(
                time: event.ended, commit: commit, event: index,
                isDurable: event.isDurable && event.outcome != nil, isSeen: event.outcome != nil)
        }.sorted { $0.time < $1.time }
        let beginnings = history.events.indices.sorted {
            history.events[$0].invoked < history.events[$1].invoked
        }
        var next = 0
        var newest = Newest(commit: history.start)
        var durable = Newest(commit: history.start)
        var seen: [Int: Newest] = [:]
        for index in beginnings {
            let event = history.events[index]
            while next < ends.count, ends[next].time < event.invoked {
                let known = ends[next]
                newest.take(known)
                if known.isDurable { durable.take(known) }
                if known.isSeen {
                    let observer = history.events[known.event].observer
                    seen[observer, default: Newest(commit: history.start)].take(known)
                }
                next += 1
            }
            let own = seen[event.observer] ?? Newest(commit: history.start)
            compare(event, commits[index], newest: newest, durable: durable, own: own)
        }
    }

    private mutating func compare(
        _ event: SharedHistory.Event, _ commit: UInt64?, newest: Newest, durable: Newest,
        own: Newest
    ) {
        func teller(_ newest: Newest) -> String {
            let who = newest.event.map { name(history.events[$0]) } ?? "the beginning"
            return "commit \(newest.commit), known from \(who)"
        }
        if let commit, commit <= newest.commit {
            find(.wrongOrder, "\(name(event)) is commit \(commit), not behind \(teller(newest))")
        }
        switch event.outcome {
        case .read(let commit, _):
            if commit < own.commit {
                find(.wentBack, "\(name(event)) sees commit \(commit), not \(teller(own))")
            }
            if event.operation.isRecent, commit < durable.commit {
                find(.staleRead, "\(name(event)) sees commit \(commit), not \(teller(durable))")
            }
        case .nothing(let commit):
            if commit < own.commit {
                find(.wentBack, "\(name(event)) sees commit \(commit), not \(teller(own))")
            }
            checkRefusal(event, from: newest.commit, own: own.commit, through: commit)
        case .committed, .done, nil: break
        }
    }

    /// There must be a commit at which there was nothing to be done.
    private mutating func checkRefusal(
        _ event: SharedHistory.Event, from newest: UInt64, own: UInt64, through last: UInt64
    ) {
        let isRight: Bool
        switch event.operation {
        // These ask with the turn.
        case .claim(let number):
            isRight = stamps(of: number, from: newest, through: last).contains { $0.stamp != 0 }
        case .drop(let numbers):
            // They must have been away at the same time.
            let spans = numbers.map { stamps(of: $0, from: newest, through: last) }
            let moments = spans.flatMap { $0 }.map(\.commit)
            isRight = moments.contains { moment in
                numbers.allSatisfy { stamp(of: $0, at: moment) == 0 }
            }
        // It may have been done with already when it was begun, in a state that the process had.
        case .renew(let number, let seen):
            isRight = stamps(of: number, from: own, through: last).contains { $0.stamp != seen }
        default: isRight = false
        }
        if !isRight {
            find(
                .wrongRefusal,
                "\(name(event)) was refused, but nothing stood against it from commit "
                    + "\(event.operation.isRenewal ? own : newest) to \(last)")
        }
    }

    /// The stamps that a register had at commits, each with a commit of these at which it had it.
    private func stamps(of number: Int, from first: UInt64, through last: UInt64)
        -> [(commit: UInt64, stamp: Int64)]
    {
        guard first <= last else { return [] }
        let all = versions[number]
        var index = place(of: first, in: all)
        var stamps = [(commit: first, stamp: all[index].stamp)]
        index += 1
        while index < all.count, all[index].commit <= last {
            stamps.append(all[index])
            index += 1
        }
        return stamps
    }

    private func stamp(of number: Int, at commit: UInt64) -> Int64 {
        versions[number][place(of: commit, in: versions[number])].stamp
    }

    /// The last version up to a commit.
    private func place(of commit: UInt64, in all: [(commit: UInt64, stamp: Int64)]) -> Int {
        var (low, high) = (0, all.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if all[middle].commit <= commit { low = middle } else { high = middle }
        }
        return low
    }
}

extension SharedOperation {
    fileprivate var isRenewal: Bool { if case .renew = self { true } else { false } }
}
