// Processes that share a store, started, stopped, killed and listened to; all that they say becomes a history.
//
// A process that holds others up, or hangs, ends the run with a sentence. All processes are ended with this object.
// Threads: one.

import CairnKilledWriter
import CairnStore
import CairnTestSupport
import Foundation

@testable import CairnLog

final class SharingProcesses {
    /// A process, and what is known of it.
    private struct Member {
        let slot: Int
        let isReader: Bool
        var durability = LogStoreOptions.Durability.full
        var child: ChildProcess
        /// By thread: the event of the operation that it is at.
        var open: [Int: Int] = [:]
        /// By thread: the first commit that it saw.
        var openedAt: [Int: UInt64] = [:]
        var observer = 0
        /// The number of its newest operation.
        var lastNumber = 0
        /// Until when it is stopped.
        var isPausedUntil: ContinuousClock.Instant?
        /// When it was started, or went on.
        var wokenAt = ContinuousClock.now
        /// When it last said something.
        var heardAt = ContinuousClock.now
    }

    /// How long an operation may take. Who has the turn is stopped for a moment at most, so that nobody waits for long.
    private static let patience = Duration.seconds(150)
    private static let durabilities: [LogStoreOptions.Durability] = [.full, .grouped, .relaxed]

    private let program: String
    private let folder: TemporaryDirectory
    private let seed: UInt64
    private var members: [Member] = []
    private var observers = 0
    private(set) var history: SharedHistory
    /// Who has said last that it has committed.
    private var lastWriter = 0
    private(set) var kills = 0
    private(set) var stops = 0
    /// All that was said, for people.
    private let record: FileHandle

    init(
        _ program: String, _ folder: TemporaryDirectory, start: UInt64, seed: UInt64
    ) throws {
        self.program = program
        self.folder = folder
        self.seed = seed
        history = SharedHistory(start: start)
        try Data().write(to: folder.url("said"))
        record = try FileHandle(forWritingTo: folder.url("said"))
    }

    var storePath: String { folder.path("store") }

    /// Starts writers, and then readers.
    func start(writers: Int, readers: Int, _ random: inout RandomSource) throws {
        for slot in 0..<writers + readers {
            let child = try spawn(slot, isReader: slot >= writers, first: 1, &random)
            members.append(
                Member(slot: slot, isReader: slot >= writers, child: child.process))
            begin(slot, child.durability)
        }
    }

    private func spawn(
        _ slot: Int, isReader: Bool, first: Int, _ random: inout RandomSource
    ) throws -> (process: ChildProcess, durability: LogStoreOptions.Durability) {
        let durability = Self.durabilities[Int.random(in: 0..<3, using: &random)]
        let threads = random.oneIn(3) ? Sharer.mostThreads : 1
        let process = try ChildProcess(
            program,
            [
                storePath, "share", "\(slot)", isReader ? "reader" : durability.rawValue,
                "\(seed &+ UInt64(slot) << 40)", "\(first)", "\(threads)",
                folder.path("backup-\(slot)"),
            ])
        return (process, durability)
    }

    private func begin(_ slot: Int, _ durability: LogStoreOptions.Durability) {
        observers += 1
        members[slot].observer = observers
        members[slot].durability = durability
        members[slot].wokenAt = .now
        members[slot].heardAt = .now
        members[slot].isPausedUntil = nil
        members[slot].open = [:]
        members[slot].openedAt = [:]
    }

    // MARK: What chance does to them

    /// Stops one of them for a while, or kills it and starts another one in its place.
    func disturb(_ random: inout RandomSource) throws {
        // Who has committed last mostly has the turn still.
        let slot =
            random.oneIn(2) ? lastWriter : Int.random(in: 0..<members.count, using: &random)
        if random.oneIn(2) { try awaitWrite(of: slot, &random) }
        if random.oneIn(2) {
            kill(slot)
            let last = members[slot].lastNumber
            let child = try spawn(
                slot, isReader: members[slot].isReader, first: last + 1, &random)
            members[slot].child = child.process
            begin(slot, child.durability)
        } else if members[slot].isPausedUntil == nil {
            stops += 1
            members[slot].child.pause()
            let longest = random.oneIn(10) ? 1500 : 120
            members[slot].isPausedUntil =
                .now + .milliseconds(Int.random(in: 1...longest, using: &random))
        }
    }

    /// Listens until a process is at something that is to be a commit, and a moment longer.
    private func awaitWrite(of slot: Int, _ random: inout RandomSource) throws {
        let end = ContinuousClock.now + .milliseconds(50)
        while ContinuousClock.now < end {
            try listen(for: .zero)
            let isWriting = members[slot].open.values.contains {
                history.events[$0].operation.isWrite
            }
            if isWriting { break }
        }
        try listen(for: .microseconds(Int.random(in: 0...2000, using: &random)))
    }

    private func kill(_ slot: Int) {
        kills += 1
        let (lines, _) = members[slot].child.end()
        let time = Sharer.now()
        // What it said while it lived.
        do {
            try take(lines, slot)
        } catch {
            failure = failure ?? error
        }
        for event in members[slot].open.values { history.events[event].ended = time }
        members[slot].open = [:]
    }

    /// What a process said with its last words.
    private var failure: (any Error)?

    /// Lets all go on that are stopped.
    func wakeAll() { for slot in members.indices { wake(slot) } }

    private func wake(_ slot: Int) {
        guard members[slot].isPausedUntil != nil else { return }
        members[slot].child.goOn()
        members[slot].isPausedUntil = nil
        members[slot].wokenAt = .now
    }

    /// Kills all of them.
    func endAll() throws {
        for slot in members.indices { kill(slot) }
        if let failure { throw failure }
    }

    // MARK: What they say

    /// Hears what they say for a while.
    func listen(for duration: Duration) throws {
        let end = ContinuousClock.now + duration
        repeat {
            for slot in members.indices {
                if let time = members[slot].isPausedUntil, time <= .now { wake(slot) }
                let patience = slot == 0 ? min(duration, .milliseconds(2)) : .zero
                guard let lines = members[slot].child.lines(within: patience) else {
                    _ = members[slot].child.end()
                    throw ChildProcess.Failure(what: "process \(slot) has ended by itself")
                }
                try take(lines, slot)
                try checkProgress(slot)
            }
            if let failure { throw failure }
        } while ContinuousClock.now < end
    }

    private func checkProgress(_ slot: Int) throws {
        let member = members[slot]
        guard member.isPausedUntil == nil else { return }
        let silence = ContinuousClock.now - max(member.wokenAt, member.heardAt)
        guard silence > Self.patience else { return }
        let works = member.open.values.map { history.events[$0].operation.text }
        throw ChildProcess.Failure(
            what: "process \(slot) says nothing for \(silence): it is at \(works)")
    }

    private func take(_ lines: [Substring], _ slot: Int) throws {
        guard !lines.isEmpty else { return }
        members[slot].heardAt = .now
        for line in lines {
            record.write(Data("\(members[slot].observer) \(line)\n".utf8))
            let words = line.split(separator: " ")
            guard words.count > 3, let stamp = Int64(words[1]), let time = UInt64(words[2]),
                words[0] == ">" || words[0] == "<"
            else {
                // What it says is what must not happen.
                throw ChildProcess.Failure(what: "process \(slot): \(line)")
            }
            if words[0] == ">" {
                try begin(stamp, time, words[3...], slot)
            } else {
                try end(stamp, time, words[3...], slot)
            }
        }
    }

    private func begin(
        _ stamp: Int64, _ time: UInt64, _ words: ArraySlice<Substring>, _ slot: Int
    ) throws {
        guard let operation = SharedOperation(words) else { throw unclear(words, slot) }
        let (number, thread, _) = Sharer.parts(of: stamp)
        members[slot].lastNumber = max(members[slot].lastNumber, number)
        members[slot].open[thread] = history.events.count
        if operation == .open, members[slot].isReader, members[slot].openedAt[thread] != nil {
            // Who only reads, and opened the store when nobody wrote, may have seen what nobody has synced; a new store
            // object need not see it.
            observers += 1
            members[slot].observer = observers
        }
        history.events.append(
            .init(
                stamp: stamp, operation: operation, observer: members[slot].observer,
                isDurable: false, invoked: time, ended: .max))
    }

    private func end(
        _ stamp: Int64, _ time: UInt64, _ words: ArraySlice<Substring>, _ slot: Int
    ) throws {
        let (_, thread, _) = Sharer.parts(of: stamp)
        guard let outcome = SharedStore.Outcome(words),
            let index = members[slot].open.removeValue(forKey: thread),
            history.events[index].stamp == stamp
        else { throw unclear(words, slot) }
        if case .committed = outcome { lastWriter = slot }
        history.events[index].outcome = outcome
        history.events[index].ended = time
        history.events[index].isDurable = isDurable(outcome, index, thread, slot)
    }

    /// Whether what an operation wrote or saw is shown to everybody who refreshes from then on.
    private func isDurable(
        _ outcome: SharedStore.Outcome, _ event: Int, _ thread: Int, _ slot: Int
    ) -> Bool {
        guard members[slot].isReader else { return members[slot].durability == .full }
        guard case .read(let commit, _) = outcome else { return false }
        if history.events[event].operation == .open { members[slot].openedAt[thread] = commit }
        // What a reader found when it opened the store beside nobody need not have been synced. What came later was.
        let opened = members[slot].openedAt.values.max() ?? .max
        return commit > opened
    }

    private func unclear(_ words: ArraySlice<Substring>, _ slot: Int) -> ChildProcess.Failure {
        ChildProcess.Failure(what: "process \(slot) says \(words.joined(separator: " "))")
    }

    // MARK: The end

    /// Notes what the store says of the order of the commits.
    func note(_ commits: [SharedHistory.Commit]) { history.commits += commits }

    /// Notes what is there when all have ended.
    func noteEnd(_ commit: UInt64, _ content: SharedContent) { history.end = (commit, content) }
}
