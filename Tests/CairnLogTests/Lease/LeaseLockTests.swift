// The lock of the lease on the real file system: who waits in the kernel comes next, waits no longer than told, and leaves
// nothing locked.

import CairnFileSystem
import CairnTestSupport
import Dispatch
import SystemPackage
import Testing

@testable import CairnLog

@Suite("The lock of the lease")
struct LeaseLockTests {
    private let folder: TemporaryDirectory
    private let path: FilePath

    init() throws {
        folder = try TemporaryDirectory()
        path = FilePath(folder.path("lock"))
        _ = try POSIXFileSystem().open(path, .create)
    }

    /// What another process would have: a lock belongs to the open file.
    private func opened() throws -> any File { try POSIXFileSystem().open(path, .readWrite) }

    /// Another thread that waits for a lease.
    private final class Waiter: Sendable {
        private let outcome = Monitor<Bool?>(nil)

        init(_ lease: LeaseLock, seconds: Double) {
            let started = SystemThread.start { [outcome] in
                let isOurs = (try? lease.take(within: seconds)) ?? false
                outcome.update { $0 = isOurs }
            }
            #expect(started)
        }

        func end() -> Bool { inTime(for: "the lease") { outcome.wait { $0 } } }
    }

    /// The thread that was left waiting may have the lease for a moment.
    private func waitUntilFree(_ file: any File) {
        inTime(for: "a free lease") {
            while (try? file.isLocked(byte: 0)) != false { Pause.yield() }
        }
    }

    @Test("Who waits comes before who had it, and others wait behind the door")
    func turns() throws {
        let first = LeaseLock(try opened())
        let second = LeaseLock(try opened())
        #expect(try first.take(within: 0))
        #expect(!first.isWanted)
        #expect(try !second.take(within: 0))
        let waiter = Waiter(second, seconds: 600)
        inTime(for: "somebody at the door") { while !first.isWanted { Pause.yield() } }
        first.giveBack()
        #expect(waiter.end())
        #expect(try !first.take(within: 0))
        #expect(try first.isTaken())
        second.giveBack()
        #expect(try first.take(within: 0))
    }

    @Test("Who has waited for as long as it may gets it the next time, and keeps it from nobody")
    func bound() throws {
        let first = LeaseLock(try opened())
        let second = LeaseLock(try opened())
        #expect(try first.take(within: 0))
        for _ in 0..<3 { #expect(try !second.take(within: 0.001)) }
        first.giveBack()
        // It comes to the thread that was left waiting, which gives it back.
        inTime(for: "the lease") {
            while (try? first.take(within: 0)) != true { Pause.yield() }
        }
        let waiter = Waiter(second, seconds: 600)
        inTime(for: "somebody at the door") { while !first.isWanted { Pause.yield() } }
        first.giveBack()
        #expect(waiter.end())
        second.giveBack()
    }

    @Test("A file that is closed while somebody waits has nothing locked any more")
    func closed() throws {
        let first = LeaseLock(try opened())
        let file = try opened()
        let second = LeaseLock(file)
        let other = try opened()
        #expect(try first.take(within: 0))
        #expect(try file.lock(byte: 5, exclusive: false))
        #expect(try !second.take(within: 0.001))
        #expect(try other.isLocked(byte: 5))
        try file.close()
        #expect(try !other.isLocked(byte: 5))
        first.giveBack()
        waitUntilFree(other)
    }

    @Test("A process that is stopped at the door keeps nobody from a lease that is free")
    func stopped() throws {
        let stopped = try opened()
        #expect(try stopped.lock(byte: 2, exclusive: true))
        let lease = LeaseLock(try opened())
        #expect(try !lease.take(within: 0))
        #expect(try lease.take(within: 600))
        // The thread that still waits for the door changes nothing of it.
        try stopped.unlock(byte: 2)
        #expect(try stopped.isLocked(byte: 0))
        lease.giveBack()
        waitUntilFree(stopped)
    }
}
