// The machine that simulated processes run on: one disk, the order in which they go on, and a plug that can be pulled.
//
// When the power fails all processes end at once, and those that begin after that find what the disk has kept. Each of the old
// ones hears of it at its next call.
//
// Threads: those of one interleaving; only the one whose turn it is touches anything here.

import CairnFileSystem
import CairnTestSupport
import Foundation
import SystemPackage

@testable import CairnLog

final class InterleavedWorld: @unchecked Sendable {
    let interleaving: Interleaving
    let workload: Workload
    private var random: RandomSource
    private(set) var disk = PowerLossDisk()
    /// The disks of the processes that live.
    private var disks: [InterleavedDisk] = []
    /// How many gates are passed until the power fails; nil: it does not.
    private var gatesToCut: Int?
    private var cutsLeft: Int
    /// Whether somebody looks without being seen: his calls pass no gate.
    private(set) var isQuiet = false
    /// Whether the system tells of writes.
    let tellsOfWrites: Bool
    var oracle = LogOracle()
    private(set) var problems: [String] = []
    private(set) var log: [String] = []
    private var lastStamp = 0
    /// What the calls were, as a number: the same order of the same calls gives the same one.
    private(set) var trace: UInt64 = 0xcbf2_9ce4_8422_2325
    /// What has happened so far.
    private(set) var cuts = 0
    private(set) var deaths = 0
    private(set) var works = 0
    private(set) var leases = 0
    private(set) var refusals = 0

    /// Whether each call is told too: for whoever looks into one run.
    private static let tellsCalls = ProcessInfo.processInfo.environment["CAIRN_CALLS"] != nil

    init(players: Int, _ random: inout RandomSource) {
        workload = Workload([], &random)
        self.random = RandomSource(seed: random.next())
        interleaving = Interleaving(players: players, seed: random.next())
        cutsLeft = [0, 0, 1, 1, 2, 3].randomElement(using: &self.random)!
        tellsOfWrites = self.random.oneIn(2)
        plan()
    }

    func find(_ problem: String) {
        problems.append(problem)
        tell(problem)
    }

    func tell(_ line: @autoclosure () -> String) {
        let line = line()
        log.append("\(interleaving.gates): \(line)")
        if Self.tellsCalls { printLine("\(interleaving.gates): \(line)") }
    }

    /// A number that no other work has.
    func nextStamp() -> Int {
        lastStamp += 1
        works += 1
        return lastStamp
    }

    /// Looks at something without letting anybody else go on.
    func quietly<R>(_ body: () throws -> R) rethrows -> R {
        let before = isQuiet
        isQuiet = true
        defer { isQuiet = before }
        return try body()
    }

    /// What has happened, for whoever wants to know how much that is.
    var counts: [(String, Int)] {
        [
            ("works", works), ("calls", interleaving.gates),
            ("changes of process", interleaving.changes), ("takings of the lease", leases),
            ("refusals", refusals), ("deaths", deaths), ("power cuts", cuts),
        ]
    }

    // MARK: Processes

    /// The disk of a process that begins.
    func begin(_ number: Int) -> InterleavedDisk {
        disks.removeAll { $0.number == number }
        let disk = InterleavedDisk(self, number, over: self.disk)
        disks.append(disk)
        return disk
    }

    /// All is over: the disks, which know the world, are let go.
    func end() { disks = [] }

    /// A process is gone, and its locks with it.
    func noteEnd(_ number: Int) {
        deaths += 1
        interleaving.wake()
    }

    func noteLease() { leases += 1 }
    func noteRefusal() { refusals += 1 }

    // MARK: Calls

    /// The gate of a call.
    func pass(
        _ number: Int, _ operation: FileSystemError.Operation, _ path: FilePath, _ offset: UInt64?
    ) {
        if isQuiet { return }
        interleaving.pass(number)
        mix(UInt64(number))
        for byte in operation.rawValue.utf8 { mix(UInt64(byte)) }
        mix(offset ?? 0)
        if Self.tellsCalls {
            let place = offset.map { " at \($0)" } ?? ""
            tell(
                "  \(number) \(operation.rawValue) \(path.lastComponent?.string ?? "/")\(place)")
        }
        guard let gates = gatesToCut else { return }
        gatesToCut = gates - 1
        if gates == 0 { cutPower() }
    }

    private func mix(_ number: UInt64) { trace = (trace ^ number) &* 0x100_0000_01b3 }

    /// Tells all processes that wait for it of a write.
    func tellOfWrite(to path: FilePath) { for disk in disks { disk.tellOfWrite(to: path) } }

    // MARK: Power

    private func plan() {
        gatesToCut = nil
        guard cutsLeft > 0 else { return }
        cutsLeft -= 1
        gatesToCut = Int.random(
            in: 1...[40, 400, 1500].randomElement(using: &random)!, using: &random)
    }

    /// All processes end, and what was not synced is there or not.
    func cutPower() {
        tell("the power fails")
        cuts += 1
        for disk in disks { disk.kill() }
        disks = []
        oracle.cutPower()
        disk = afterPowerCut()
        plan()
    }

    /// What a disk is that had its power fail now.
    func afterPowerCut() -> PowerLossDisk {
        guard let image = disk.image(after: disk.changeCount, &random) else {
            return PowerLossDisk()
        }
        do {
            return try PowerLossDisk(holding: image)
        } catch {
            preconditionFailure("an image fits on an empty disk: \(error)")
        }
    }
}
