// What is known of a log that several processes write, from what their commits and their looks have told.
//
//   made     the work of commits that returned, by number. The other commits change no object (compaction, the limits of
//            history), or are of work whose process died: those are found out by what is in the store
//   found    contents that somebody has seen, by commit
//   newest   the newest commit that anybody has seen: it outlives every process
//   sure     the newest commit that outlives the power: a full one that returned, or one that another process has shown
//   told     the newest commit that a look finds, as its mark is written and nobody has died since
//
// After a power cut the log ends at some commit from `sure` on. Which one, says the first process that has the lease.
//
// Threads: a plain value.

import CairnTestSupport

@testable import CairnLog

struct LogOracle {
    private struct Ended {
        let work: SharedWork
        /// The last stamp when its process died.
        let stamp: Int
        /// The first commit of work that was begun after that: it is before it, or nowhere.
        var limit = UInt64.max
    }

    private var made: [UInt64: SharedWork] = [:]
    /// Commits in `made` that nobody has said to be so.
    private var guessed: Set<UInt64> = []
    private var found: [UInt64: NaiveStore] = [0: NaiveStore()]
    private var texts: [UInt64: String] = [:]
    private var underWay: [Int: SharedWork] = [:]
    /// Work whose process died, that may be in the log or not.
    private var ended: [Ended] = []
    private var lastStamp = 0
    private(set) var newest: UInt64 = 0
    private(set) var sure: UInt64 = 0
    private(set) var told: UInt64 = 0
    /// Whether the power has failed and nobody who has had the lease since then has looked.
    private(set) var isEndOpen = false
    /// What was made before that.
    private var madeBefore: Set<UInt64> = []
    /// The oldest commit at which the log may have ended then.
    private var firstEnd: UInt64 = 0

    // MARK: Work

    mutating func begin(_ work: SharedWork) {
        underWay[work.process] = work
        lastStamp = work.stamp
    }

    /// It has changed nothing.
    mutating func forget(_ process: Int) {
        guard let work = underWay.removeValue(forKey: process) else { return }
        guard let guess = made.first(where: { $0.value.stamp == work.stamp })?.key else { return }
        made[guess] = nil
        guessed.remove(guess)
    }

    /// It has returned with a commit; gives what is wrong with that.
    mutating func end(_ process: Int, at commit: UInt64) -> String? {
        guard let work = underWay[process] else { return nil }
        forget(process)
        if isEndOpen, madeBefore.remove(commit) != nil {
            // What had the number is lost.
            guessed.remove(commit)
        } else if let other = made[commit] {
            guard guessed.remove(commit) != nil else {
                return "commit \(commit) is of \(other), and of \(work)"
            }
            ended.append(Ended(work: other, stamp: lastStamp))
        }
        made[commit] = work
        for index in ended.indices where ended[index].stamp < work.stamp {
            ended[index].limit = min(ended[index].limit, commit)
        }
        // Somebody may have read it before its process could say so.
        let last = made.keys.filter { $0 != commit && !guessed.contains($0) }.max() ?? 0
        guard !isEndOpen, commit <= last else { return nil }
        return "commit \(commit) of \(work) is not the newest one, \(last)"
    }

    /// A process has died.
    mutating func die(_ process: Int) {
        told = 0
        guard let work = underWay.removeValue(forKey: process) else { return }
        if made.contains(where: { $0.value.stamp == work.stamp }) { return }
        ended.append(Ended(work: work, stamp: lastStamp))
    }

    mutating func cutPower() {
        for process in underWay.keys.sorted() { die(process) }
        told = 0
        newest = sure
        isEndOpen = true
        firstEnd = sure
        madeBefore = Set(made.keys)
    }

    // MARK: Numbers

    /// Somebody has a commit as his newest one; gives what is wrong with that.
    mutating func see(_ commit: UInt64, hasLease: Bool) -> String? {
        defer { newest = max(newest, commit) }
        guard hasLease, commit < newest else { return nil }
        return "who has the lease is at commit \(commit), though \(newest) has been seen"
    }

    mutating func assure(_ commit: UInt64) { sure = max(sure, commit) }
    mutating func tell(_ commit: UInt64) { told = max(told, commit) }

    // MARK: Contents

    /// Somebody has seen what a commit holds; gives what is wrong with that.
    mutating func look(
        at commit: UInt64, _ content: NaiveStore, _ text: String, hasLease: Bool
    ) -> String? {
        if isEndOpen {
            guard settle(commit, content, hasLease) else {
                return
                    "commit \(commit), after a power cut, from \(firstEnd) on, is none that can be:"
                    + difference(commit, content)
            }
        } else if !fits(commit, content, made, kept: found) {
            return "commit \(commit) is not what it should be:" + difference(commit, content)
        }
        if let known = texts[commit], known != text {
            return "commit \(commit) has been another one: \(known)\n\(text)"
        }
        texts[commit] = text
        found[commit] = content
        return nil
    }

    /// Finds out where the log has ended when the power failed.
    private mutating func settle(_ commit: UInt64, _ content: NaiveStore, _ hasLease: Bool) -> Bool
    {
        // What was guessed since then may have been before as well.
        let new = made.filter { !madeBefore.contains($0.key) && !guessed.contains($0.key) }
        let last = min(commit, (new.keys.min() ?? .max) - 1)
        guard firstEnd <= last else {
            // A reader beside others may be behind.
            return !hasLease && fits(commit, content, made, kept: found)
        }
        for end in (firstEnd...last).reversed() {
            var trial = self
            trial.made = made.filter { $0.key <= end || new[$0.key] != nil }
            trial.guessed = guessed.filter { trial.made[$0] != nil }
            let kept = found.filter { $0.key <= end }
            guard trial.fits(commit, content, trial.made, kept: kept) else { continue }
            // A reader that is beside others says nothing of what comes behind it.
            if !hasLease, end == commit {
                firstEnd = end
                return true
            }
            self = trial
            found = kept
            texts = texts.filter { $0.key <= end }
            isEndOpen = false
            return true
        }
        return false
    }

    /// Whether a content is that of a commit; work that nobody has told of is put where it makes it so.
    private mutating func fits(
        _ commit: UInt64, _ content: NaiveStore, _ made: [UInt64: SharedWork],
        kept: [UInt64: NaiveStore]
    ) -> Bool {
        if let known = kept[commit] { return known == content }
        let base = kept.keys.filter { $0 < commit }.max() ?? 0
        let open = underWay.values.sorted { $0.stamp < $1.stamp }.filter { work in
            !made.contains { $0.value.stamp == work.stamp }
        }
        var search = Search(
            end: commit, content: content, made: made,
            left: ended.filter { $0.limit > base }.map { ($0.work, $0.limit) }
                + open.map { ($0, .max) })
        let start = kept[base] ?? NaiveStore()
        if !search.reaches(from: base + 1, start) {
            // What was guessed may be elsewhere.
            let wrong = guessed.filter { $0 > base }
            guard !wrong.isEmpty else { return false }
            search.left += wrong.sorted().compactMap { made[$0] }.map { ($0, .max) }
            for number in wrong { search.made[number] = nil }
            guard search.reaches(from: base + 1, start) else { return false }
            for number in wrong {
                if let work = self.made.removeValue(forKey: number),
                    underWay[work.process]?.stamp != work.stamp
                {
                    ended.append(Ended(work: work, stamp: lastStamp))
                }
            }
            guessed.subtract(wrong)
        }
        for (number, work) in search.placed {
            self.made[number] = work
            guessed.insert(number)
            ended.removeAll { $0.work.stamp == work.stamp }
        }
        return true
    }

    /// What a content has and should not have, and the other way round.
    private func difference(_ commit: UInt64, _ content: NaiveStore) -> String {
        let base = found.keys.filter { $0 <= commit }.max() ?? 0
        var expected = found[base] ?? NaiveStore()
        var works: [String] = []
        for number in made.keys.filter({ $0 > base && $0 <= commit }).sorted() {
            guard let work = made[number] else { continue }
            expected = work.applied(to: expected)
            works.append("\(number) \(work)")
        }
        let open = (ended.map(\.work) + underWay.values).map { "\($0), begun at \($0.seen)" }
        return """
             \(content.difference(to: expected))
            from \(base): \(works)
            may be there: \(open)
            """
    }
}

/// A search for the commits in which work was made whose process could not say so.
private struct Search {
    let end: UInt64
    let content: NaiveStore
    var made: [UInt64: SharedWork]
    /// What may be there, and the commit that it is before.
    var left: [(work: SharedWork, limit: UInt64)]
    private(set) var placed: [UInt64: SharedWork] = [:]

    init(
        end: UInt64, content: NaiveStore, made: [UInt64: SharedWork],
        left: [(work: SharedWork, limit: UInt64)]
    ) {
        self.end = end
        self.content = content
        self.made = made
        self.left = left
    }

    mutating func reaches(from number: UInt64, _ model: NaiveStore) -> Bool {
        if number > end { return model == content }
        if let work = made[number] { return reaches(from: number + 1, work.applied(to: model)) }
        if reaches(from: number + 1, model) { return true }
        for (index, entry) in left.enumerated()
        where entry.work.seen < number && number < entry.limit {
            left.remove(at: index)
            placed[number] = entry.work
            if reaches(from: number + 1, entry.work.applied(to: model)) { return true }
            placed[number] = nil
            left.insert(entry, at: index)
        }
        return false
    }
}
