import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog

@Suite("A power failure")
struct PowerLossTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var durability: LogStoreOptions.Durability
        var segmentBytes: UInt64
        /// Whether a write fails on the way, so that something is cut off.
        var withFailures = false
        var testDescription: String {
            "\(durability), segments of \(segmentBytes)" + (withFailures ? ", failures" : "")
        }
    }

    @Test(
        "Whatever unsynced part of the disk is lost, a beginning of the commits is there, with all full ones (CM2)",
        arguments: [
            Case(durability: .full, segmentBytes: 1 << 30),
            Case(durability: .full, segmentBytes: 6000),
            Case(durability: .full, segmentBytes: 6000, withFailures: true),
            Case(durability: .relaxed, segmentBytes: 1 << 30),
            Case(durability: .relaxed, segmentBytes: 6000),
        ])
    func loss(given: Case) throws {
        var random = RandomSource()
        let disk = PowerLossDisk()
        let faulty = FaultInjectingFileSystem(over: disk)
        var options = SampleStore.options(
            on: faulty, segmentBytes: given.segmentBytes, durability: given.durability)
        options.sizes.writeBufferBytes = 2000
        var contents: [String] = []
        var failures = 0
        /// How many changes had been made when each content was acknowledged.
        var returned: [Int] = []
        func acknowledge(_ store: LogStore) throws {
            contents.append(try SampleStore.text(store))
            returned.append(disk.changeCount)
        }
        // Two sessions, so that a close and a taking over are among the calls.
        for steps in [SampleStore.steps[..<4], SampleStore.steps[4...]] {
            let store = try LogStore.open(
                at: "/store", schema: try SampleStore.schema(), options: options)
            if contents.isEmpty { try acknowledge(store) }
            for step in steps {
                if given.withFailures {
                    // Less than a commit frame: a write that fails when all is written may leave a whole
                    // commit, until it is cut off.
                    faulty.fail(
                        .write, number: 2, of: "segment", with: .noSpace, afterWriting: 40)
                }
                do {
                    try step(store)
                } catch {
                    failures += 1
                    faulty.clearFaults()
                    try step(store)
                }
                faulty.clearFaults()
                try acknowledge(store)
            }
            try store.close()
            returned.append(disk.changeCount)
            contents.append(contents.last!)
        }
        for count in Campaign.sample(Array(0...disk.changeCount), oneIn: 6, using: &random) {
            for _ in 0..<Campaign.count(1, whole: 200) {
                let known = returned.lastIndex { $0 <= count }
                let image = disk.image(after: count, &random)
                try check(
                    image, known, contents, durability: given.durability,
                    "power failure after \(count) changes, seed \(random.seed)")
            }
        }
        #expect(disk.changeCount > 20)
        #expect((failures > 2) == given.withFailures)
    }

    @Test("A segment that was begun for a commit that failed is synced when the store is closed")
    func closingAfterFailure() throws {
        var random = RandomSource()
        let disk = PowerLossDisk()
        let options = SampleStore.options(on: disk, segmentBytes: 5000)
        let store = try LogStore.open(
            at: "/store", schema: try SampleStore.schema(), options: options)
        try SampleStore.steps[0](store)
        try SampleStore.steps[1](store)
        #expect(store.engine.registry.published().end.offset > 5000)
        var request = BatchInsertRequest(entityName: "Airport", objects: [["code": "A1"]])
        request.failsOnConflict = true
        #expect(throws: StoreError.self) { try store.execute(request) }
        let text = try SampleStore.text(store)
        let before = disk.changeCount
        try store.close()
        #expect(disk.changeCount > before)
        for count in before...disk.changeCount {
            for _ in 0..<20 {
                let found = try #require(disk.image(after: count, &random)).content()
                #expect(found.text == text, "after \(count) changes, seed \(random.seed)")
                if count == disk.changeCount { #expect(found.recovery.wasClosed) }
            }
        }
    }

    private func check(
        _ image: DiskImage?, _ known: Int?, _ contents: [String],
        durability: LogStoreOptions.Durability, _ comment: String
    ) throws {
        guard let image else {
            #expect(known == nil, "\(comment)")
            return
        }
        var text: String?
        do {
            text = try image.content().text
        } catch let error as StoreError {
            let isExpected = known == nil && error.code == .openFailed
            #expect(isExpected, "\(comment): \(error)")
            if !isExpected { return }
        }
        if let text {
            let last = min((known ?? -1) + 1, contents.count - 1)
            let first = durability == .full ? known ?? 0 : 0
            let isBeginning = contents[first...max(first, last)].contains(text)
            #expect(isBeginning, "\(comment)")
        }
        // The next writer goes on with it.
        let disk = try image.disk()
        let store = try LogStore.open(
            at: "/store", schema: try SampleStore.schema(), options: SampleStore.options(on: disk))
        #expect(try SampleStore.text(store) == text ?? contents[0], "\(comment)")
        try store.obtainIDOfCountry()
        try store.close()
        #expect(try DiskImage(of: disk).content().text == text ?? contents[0], "\(comment)")
    }
}
