// Crashes a workload at every call, opens what is left, and crashes that too.
//
//   1. The workload runs once; before each call that changes the disk its state and the promise are kept.
//   2. From each such point images are made: the process ends, the power fails and takes all, nothing or some
//      of what was not synced.
//   3. Each image is opened (what it holds must be promised), checked, committed to, closed and opened again.
//      With more depth that run is crashed at every call in its turn.
//
// The oracle, in contents after each step: after a power cut one from the last durable one to the last that
// was begun; after the end of the process from the last published one on. Opening makes what it finds durable.
//
// Threads: one.

import CairnStore
import CairnTestSupport
import Testing

@testable import CairnLog

struct CrashExplorer {
    /// A disk to begin with, and what may be found on it.
    struct Start: Sendable {
        var state: DiskState
        /// Any of these may be found when it is opened.
        var found: [String]
        /// Any of these may be found after a power cut before it is opened; nil: what was found.
        var afterPowerCut: [String]?
        /// What the store held after commits that may be in it.
        var pasts = PastContents()
        var description: String
    }

    var random: RandomSource
    /// Images with random losses that are made at each point, at each depth.
    var images = 1
    /// One in so many points is gone on with, by depth; the first for the workload itself.
    var shares: [Int]
    private(set) var imageCount = 0
    private(set) var pointCount = 0
    private(set) var problems: [String] = []
    private var known: Set<Int> = []

    init(seed: UInt64, images: Int = 1, shares: [Int]) {
        random = RandomSource(seed: seed)
        self.images = images
        self.shares = shares
    }

    private mutating func find(_ problem: String, _ start: Start) {
        if problems.count < 10 { problems.append("\(problem); \(start.description)") }
    }

    /// Crashes a workload that begins with a disk.
    mutating func explore(_ start: Start, _ workload: Workload) {
        known = []
        explore(start, workload, depth: 0)
    }

    private mutating func explore(_ start: Start, _ workload: Workload, depth: Int) {
        let goesOn = depth < shares.count
        let run = CrashRun(start.state, workload, seed: random.next())
        run.disk.with { $0.records = goesOn }
        run.pasts = start.pasts
        if depth > 0 { imageCount += 1 }
        do {
            try run.open()
            guard start.found.contains(run.texts[0]) else {
                return find("it holds what it should not: \(run.texts[0].prefix(300))", start)
            }
            if let store = run.store {
                let findings = try store.check().findings
                if !findings.isEmpty { find("\(findings)", start) }
                for problem in try run.pastProblems(&random) { find(problem, start) }
            }
            for (index, operation) in workload.operations.enumerated() {
                try run.perform(operation, step: workload.firstStep + index)
                if operation == .reopen, run.texts[run.texts.count - 2] != run.texts.last {
                    find("it holds something else when opened again", start)
                }
            }
            try run.close()
        } catch {
            return find("\(error)", start)
        }
        let (points, found, state) = run.disk.with { disk in
            (disk.points, disk.checker.problems, disk.state)
        }
        for problem in found { find(problem, start) }
        guard goesOn else { return }
        let promise = run.disk.with { $0.promise }
        let end = SimulatedDisk.CrashPoint(
            state: state, promise: promise, call: "the end", write: nil)
        let shares = shares
        for (number, point) in (points + [end]).enumerated()
        where shares[depth] == 1 || random.oneIn(shares[depth]) {
            pointCount += 1
            crash(
                point, "crash at call \(number), \(point.call), of: \(start.description)", start,
                run, workload, depth)
        }
    }

    /// Makes the images of a point and goes on with each.
    private mutating func crash(
        _ point: SimulatedDisk.CrashPoint, _ description: String, _ start: Start,
        _ run: CrashRun, _ workload: Workload, _ depth: Int
    ) {
        let texts = run.texts
        func contents(from first: Int, otherwise: [String]) -> [String] {
            (first < 0 ? otherwise : [])
                + (point.promise.begun < 0
                    ? [] : texts[max(first, 0)...min(point.promise.begun, texts.count - 1)])
        }
        let published = contents(from: point.promise.published, otherwise: [texts[0]])
        let durable = contents(
            from: point.promise.durable, otherwise: start.afterPowerCut ?? [texts[0]])
        var recovery = workload
        recovery.firstStep = 1000 * (depth + 1)
        recovery.operations = [.insertOne, .reopen]

        var ended = point.state
        if let write = point.write, random.oneIn(2) {
            // The process ends in the middle of the write.
            let count = Int(random.next() % UInt64(write.bytes.count + 1))
            write.bytes[..<count].withUnsafeBytes {
                ended.write($0, to: write.file, at: write.offset)
            }
        }
        if ended.hasDropped, random.oneIn(2) { ended.evict() }
        go(
            Start(
                state: ended, found: published, afterPowerCut: durable, pasts: run.pasts,
                description: "end of the process, \(description)"), recovery, depth)
        guard point.state.hasUnsynced else { return }
        for loss in [DiskState.Loss.all, .nothing] + Array(repeating: .some, count: images) {
            go(
                Start(
                    state: point.state.afterPowerCut(loss, &random), found: durable,
                    pasts: run.pasts,
                    description: "power cut, \(loss) lost, \(description)"), recovery, depth)
        }
    }

    private mutating func go(_ start: Start, _ workload: Workload, _ depth: Int) {
        // Twice the same image with the same promise says nothing new.
        var hasher = Hasher()
        hasher.combine(start.state.fingerprint)
        hasher.combine(start.state.hasUnsynced)
        hasher.combine(start.found)
        guard known.insert(hasher.finalize()).inserted else { return }
        explore(start, workload, depth: depth + 1)
    }
}
