// A workload one of whose calls fails, once or from then on, and what must hold after that.
//
//   1. A step that fails throws a store's error of a kind that says so; what was published stays as it was.
//   2. What is on the disk then holds what was promised: nothing of the failed step, unless its sync was tried
//      or its frames could not be cut off, and then all of it or nothing.
//   3. The step is tried again, while the call still fails and when it works again, and succeeds; after a
//      failed sync only when the store was opened again.
//   4. In the end the store is closed, and holds everything when it is opened again, after a power cut too.
//
// Threads: one.

import CairnStore
import CairnTestSupport
import SystemPackage

@testable import CairnLog

struct FailingRun {
    private let run: CrashRun
    private let workload: Workload
    private let start: CrashExplorer.Start
    private let fault: SimulatedDisk.Fault
    private var random: RandomSource
    private(set) var problems: [String] = []

    /// Whether the call came at all.
    var hasFailed: Bool { run.disk.with { $0.hasFailed } }

    init(
        _ start: CrashExplorer.Start, _ workload: Workload, _ fault: SimulatedDisk.Fault,
        seed: UInt64
    ) {
        random = RandomSource(seed: seed)
        run = CrashRun(start.state, workload, seed: random.next())
        self.start = start
        self.workload = workload
        self.fault = fault
        run.disk.with { $0.fault = fault }
    }

    private mutating func find(_ problem: String) {
        problems.append(
            "\(problem); call \(fault.number) fails with \(fault.code), repeats: \(fault.repeats), after \(fault.bytesFirst) bytes, of: \(start.description)"
        )
    }

    mutating func carryOut() {
        open(Possible(texts: start.found))
        for (index, operation) in workload.operations.enumerated() where problems.isEmpty {
            perform(operation, step: index)
        }
        guard problems.isEmpty else { return }
        finish()
        for problem in run.disk.with({ $0.checker.problems }) { find(problem) }
    }

    // MARK: Steps

    /// What may be found on the disk.
    private struct Possible {
        var texts: [String]
        /// What the store holds if the step that failed is there after all. Its objects may have other numbers.
        var after: NaiveStore?

        func contains(_ text: String, _ store: LogStore?) throws -> Bool {
            if texts.contains(text) { return true }
            guard let after, let store else { return false }
            return try NaiveStore(store) == after
        }
    }

    /// Opens the store, trying again as long as calls fail.
    private mutating func open(_ possible: Possible) {
        for attempt in 1...4 {
            do {
                try run.open()
                let text = run.texts[run.texts.count - 1]
                if try !possible.contains(text, run.store) {
                    find("it holds what it should not: \(text.prefix(300))")
                }
                return
            } catch {
                check(error)
                if attempt == 2 { run.disk.with { $0.fault = nil } }
            }
        }
        find("it cannot be opened")
    }

    private mutating func perform(_ operation: StoreOperation, step: Int) {
        for attempt in 1...5 {
            if run.store == nil { return open(promised()) }
            let before = run.disk.with { $0.state }
            do {
                return try run.perform(operation, step: step)
            } catch {
                let wasPoisoned = check(error)
                if attempt == 2 { run.disk.with { $0.fault = nil } }
                checkUnchanged()
                var possible = promised()
                if operation != .reopen, run.isPoisoned, !wasPoisoned {
                    possible.after = after(operation, step, before)
                }
                checkDisk(possible, "after \(operation) failed, attempt \(attempt), \(error)")
                guard run.isPoisoned || wasPoisoned else { continue }
                // A sync failed: the store is to be opened again.
                try? run.close()
                if random.oneIn(2) { run.disk.with { $0.state.evict() } }
                open(possible)
            }
            guard problems.isEmpty else { return }
        }
        find("\(operation) fails for ever")
    }

    private mutating func finish() {
        run.disk.with { $0.fault = nil }
        let last = promised()
        // Closing after a failure of that kind says what may be lost.
        let wasPoisoned = run.isPoisoned
        do {
            try run.close()
        } catch {
            if !wasPoisoned { find("closing fails, though nothing does any more: \(error)") }
        }
        checkDisk(last, "after closing")
        do {
            try run.open()
            if !last.texts.contains(run.texts[run.texts.count - 1]) {
                find("it holds what it should not in the end")
            }
            if let findings = try run.store?.check().findings, !findings.isEmpty {
                find("\(findings)")
            }
            try run.close()
        } catch {
            find("in the end: \(error)")
        }
    }

    // MARK: Checks

    /// The contents that the store may have if it is opened now.
    private func promised() -> Possible {
        let promise = run.disk.with { $0.promise }
        if promise.durable < 0 { return Possible(texts: start.found) }
        return Possible(texts: Array(run.texts[promise.durable...]))
    }

    /// Judges an error; true if it says that an earlier failure forbids writing.
    @discardableResult
    private mutating func check(_ error: any Error) -> Bool {
        guard let error = error as? StoreError else {
            find("an error that is no store's: \(error)")
            return false
        }
        if !hasFailed { find("it fails, though no call did: \(error)") }
        switch error.code {
        case .inputOutput, .noSpace: return false
        case .unusable: return true
        default:
            find("an error of another kind: \(error)")
            return false
        }
    }

    /// What is published stays as it was.
    private mutating func checkUnchanged() {
        guard run.store != nil else { return }
        do {
            if try run.text() != run.texts.last { find("what failed can be seen") }
        } catch {
            find("what was published cannot be read: \(error)")
        }
    }

    /// Opens what is on the disk now, when the process ended or the power failed.
    private mutating func checkDisk(_ possible: Possible, _ place: String) {
        var state = run.disk.with { $0.state }
        switch random.next() % 4 {
        case 0: break
        case 1: state.evict()
        case 2: state = state.afterPowerCut(.all, &random)
        default: state = state.afterPowerCut(.some, &random)
        }
        let other = CrashRun(state, workload, seed: random.next())
        do {
            try other.open()
            if try !possible.contains(other.texts[0], other.store) {
                find(
                    "what is on the disk \(place) is not what was promised: \(other.texts[0].prefix(300))"
                )
            }
            try other.close()
        } catch {
            find("what is on the disk cannot be opened: \(error)")
        }
        for problem in other.disk.with({ $0.checker.problems }) { find(problem) }
    }

    /// What the store would hold if an operation had succeeded.
    private func after(_ operation: StoreOperation, _ step: Int, _ before: DiskState) -> NaiveStore?
    {
        let other = CrashRun(before, workload, seed: 0)
        do {
            try other.open()
            try other.perform(operation, step: step)
            defer { try? other.close() }
            guard let store = other.store else { return nil }
            return try NaiveStore(store)
        } catch {
            return nil
        }
    }
}
