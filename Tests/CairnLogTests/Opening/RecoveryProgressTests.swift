// How far opening is, and cancelling it.

import CairnFileSystem
import CairnStore
import CairnTestSupport
import Foundation
import Synchronization
import Testing

@testable import CairnLog

@Suite("The progress of opening")
struct RecoveryProgressTests {
    /// What was told.
    private final class Told: Sendable {
        private let all = Mutex<[RecoveryProgress]>([])
        var list: [RecoveryProgress] { all.withLock { $0 } }

        /// Adds one; gives how many there are.
        func add(_ progress: RecoveryProgress) -> Int {
            all.withLock { all in
                all.append(progress)
                return all.count
            }
        }
    }

    private func options(
        _ disk: any FileSystem, isReadOnly: Bool, _ told: Told, stopAt last: Int = .max
    ) -> LogStoreOptions {
        var options = SampleStore.options(on: disk)
        options.isReadOnly = isReadOnly
        options.sizes.recoveryStepBytes = 500
        options.recoveryProgress = { told.add($0) < last }
        return options
    }

    @Test(
        "Both stages are told, from nothing to all of it", arguments: [1 << 30, 6000] as [UInt64],
        [true, false])
    func progress(segmentBytes: UInt64, isReadOnly: Bool) throws {
        let history = try SampleStore.history(steps: 7, segmentBytes: segmentBytes)
        let told = Told()
        let store = try LogStore.open(
            at: "/store",
            options: options(try history.closed.disk(), isReadOnly: isReadOnly, told))
        defer { try? store.close() }
        #expect(try SampleStore.text(store) == history.contents.last)
        for stage in [RecoveryProgress.Stage.readingLog, .buildingState] {
            let steps = told.list.filter { $0.stage == stage }
            #expect(steps.count > 3)
            #expect(steps.first?.bytesDone == 0)
            #expect(steps.allSatisfy { $0.bytesDone <= $0.bytesTotal && $0.bytesTotal > 2000 })
            #expect(
                zip(steps, steps.dropFirst()).allSatisfy { $1.bytesDone >= $0.bytesDone + 500 })
        }
        #expect(
            told.list.lastIndex { $0.stage == .readingLog }! < told.list.firstIndex {
                $0.stage == .buildingState
            }!)
    }

    @Test("Cancelled at any time, opening leaves the store as it was", arguments: [true, false])
    func cancelling(isReadOnly: Bool) throws {
        let history = try SampleStore.history(steps: 7, segmentBytes: 6000)
        let all = Told()
        try LogStore.open(
            at: "/store", options: options(try history.closed.disk(), isReadOnly: isReadOnly, all)
        ).close()
        let disk = try history.closed.disk()
        for last in 1...all.list.count {
            let told = Told()
            let error = #expect(throws: StoreError.self) {
                try LogStore.open(
                    at: "/store",
                    options: options(disk, isReadOnly: isReadOnly, told, stopAt: last))
            }
            #expect(error?.code == .cancelled)
            #expect(told.list.count == last, "nobody is asked again")
            #expect(try DiskImage(of: disk) == history.closed)
        }
        // Nobody has kept a lock.
        let store = try LogStore.open(at: "/store", options: SampleStore.options(on: disk))
        #expect(try SampleStore.text(store) == history.contents.last)
        try store.close()
    }
}
