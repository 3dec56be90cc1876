import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog

@Suite("A disk that fails")
struct FailingDiskTests {
    struct Fault: Sendable, CustomTestStringConvertible {
        var operation: FileSystemError.Operation
        var code: Errno
        var afterWriting = 0
        var testDescription: String { "\(operation) \(code) after \(afterWriting) bytes" }
    }

    /// What a run with one fault has shown.
    struct Run {
        let base = MemoryFileSystem()
        let disk: FaultInjectingFileSystem
        var options: LogStoreOptions
        init(segmentBytes: UInt64, writeBuffer: Int) {
            disk = FaultInjectingFileSystem(over: base)
            options = SampleStore.options(on: disk, segmentBytes: segmentBytes)
            options.sizes.writeBufferBytes = writeBuffer
        }
        func open() throws -> LogStore {
            try LogStore.open(at: "/store", schema: try SampleStore.schema(), options: options)
        }
    }

    @Test(
        "A commit whose write fails leaves nothing of itself, and the next one succeeds (FL1)",
        arguments: [
            Fault(operation: .write, code: .noSpace),
            Fault(operation: .write, code: .noSpace, afterWriting: 1),
            Fault(operation: .write, code: .ioError, afterWriting: 100),
            Fault(operation: .write, code: .diskQuotaExceeded, afterWriting: 1_000_000),
            Fault(operation: .open, code: .tooManyOpenFiles),
            Fault(operation: .unlink, code: .ioError),
        ])
    func writes(fault: Fault) throws {
        var random = RandomSource()
        // A small buffer writes a commit in several parts, a large one at once.
        for (segmentBytes, buffer) in [(1 << 30, 4 << 20), (6000, 512)] as [(UInt64, Int)] {
            let step = Campaign.step(8)
            var number = Int.random(in: 1...step, using: &random)
            while true {
                let run = Run(segmentBytes: segmentBytes, writeBuffer: buffer)
                run.disk.fail(
                    fault.operation, number: number, with: fault.code,
                    afterWriting: fault.afterWriting)
                var failures = 0
                func retrying<R>(_ store: LogStore?, _ body: () throws -> R) throws -> R {
                    let before = try store.map { try SampleStore.text($0) }
                    do {
                        return try body()
                    } catch let error as StoreError {
                        failures += 1
                        let isFull = fault.code == .noSpace || fault.code == .diskQuotaExceeded
                        #expect(error.code == (isFull ? .noSpace : .inputOutput))
                        if let store, let before {
                            #expect(try SampleStore.text(store) == before)
                            #expect(try DiskImage(of: run.base).content().text == before)
                        }
                        return try body()
                    }
                }
                let store = try retrying(nil) { try run.open() }
                for step in SampleStore.steps { try retrying(store) { try step(store) } }
                let last = try SampleStore.text(store)
                #expect(try store.check().findings.isEmpty)
                do { try store.close() } catch { failures += 1 }
                #expect(failures <= 1)
                let found = try DiskImage(of: run.base).content()
                #expect(found.text == last)
                if run.disk.count(fault.operation) < number { break }
                number += step
            }
            #expect(number > 2 || fault.operation == .unlink)
        }
    }

    @Test(
        "After a failed sync nothing is written any more, and reading goes on",
        arguments: [1 << 30, 6000] as [UInt64])
    func syncs(segmentBytes: UInt64) throws {
        for operation in [FileSystemError.Operation.synchronize, .syncDirectory] {
            var number = 1
            while true {
                let run = Run(segmentBytes: segmentBytes, writeBuffer: 4 << 20)
                let store = try run.open()
                let afterOpening = run.disk.count(operation)
                run.disk.fail(operation, number: number, with: .ioError)
                var hasFailed = false
                var before = try SampleStore.text(store)
                for step in SampleStore.steps {
                    if hasFailed {
                        let error = #expect(throws: StoreError.self) { try step(store) }
                        #expect(error?.code == .unusable)
                        #expect(try SampleStore.text(store) == before)
                        continue
                    }
                    do {
                        try step(store)
                        before = try SampleStore.text(store)
                    } catch let error as StoreError {
                        hasFailed = true
                        #expect(error.code == .inputOutput)
                        #expect(try SampleStore.text(store) == before)
                    }
                }
                let mutations = run.disk.mutationCount
                if hasFailed {
                    try store.close()
                    #expect(run.disk.mutationCount == mutations)
                } else {
                    try? store.close()
                }
                // The lock is given back, and what was acknowledged is there.
                let again = try run.open()
                let text = try SampleStore.text(again)
                try again.close()
                if text != before {
                    #expect(hasFailed, "a commit that was never made")
                    #expect(text.utf8.count != before.utf8.count)
                }
                #expect(try DiskImage(of: run.base).content().text == text)
                if run.disk.count(operation) - afterOpening < number || !hasFailed { break }
                number += 1
            }
            #expect(number > (segmentBytes > 10_000 ? 1 : 3) || operation == .syncDirectory)
        }
    }

    @Test("A segment that could be neither finished nor removed takes nothing from the log")
    func halfSegment() throws {
        let run = Run(segmentBytes: 1 << 30, writeBuffer: 512)
        let store = try run.open()
        try SampleStore.firstObjects(store)
        let second = FilePath("/store").appending(SegmentName.name(of: 2))
        run.disk.fail(.write, of: SegmentName.name(of: 2), with: .noSpace, afterWriting: 1 << 20)
        run.disk.fail(.unlink, with: .ioError, repeats: true)
        #expect(throws: StoreError.self) { try store.engine.rollSegment() }
        run.disk.clearFaults()
        #expect(try run.base.exists(second))
        // The segment states an end of the first one: what follows must not be written behind that.
        try SampleStore.manyRows(store)
        let last = try SampleStore.text(store)
        #expect(try DiskImage(of: run.base).content().text == last)
        try store.close()
        #expect(try DiskImage(of: run.base).content().text == last)
        let again = try run.open()
        #expect(try SampleStore.text(again) == last)
        #expect(try !run.base.exists(second))
        try again.close()
    }

    @Test("When cutting off a failed commit fails too, nothing is written any more")
    func truncates() throws {
        for operation in [FileSystemError.Operation.truncate, .synchronize] {
            let run = Run(segmentBytes: 1 << 30, writeBuffer: 512)
            let store = try run.open()
            try SampleStore.firstObjects(store)
            let before = try SampleStore.text(store)
            run.disk.fail(.write, number: 2, with: .noSpace, afterWriting: 8)
            run.disk.fail(operation, with: .ioError)
            let first = #expect(throws: StoreError.self) { try SampleStore.manyRows(store) }
            #expect(first?.code == .noSpace)
            let second = #expect(throws: StoreError.self) { try SampleStore.manyRows(store) }
            #expect(second?.code == .unusable)
            #expect(try SampleStore.text(store) == before)
            try store.close()
            let again = try run.open()
            #expect(try SampleStore.text(again) == before)
            try SampleStore.manyRows(again)
            let last = try SampleStore.text(again)
            try again.close()
            #expect(try DiskImage(of: run.base).content().text == last)
        }
    }

    @Test(
        "A crash at any call leaves all that returned and at most one whole commit more",
        arguments: [1 << 30, 6000] as [UInt64], [0, 300])
    func crashes(segmentBytes: UInt64, afterWriting: Int) throws {
        let contents = try SampleStore.history(segmentBytes: segmentBytes).contents
        var random = RandomSource()
        let calls = Campaign.step(8)
        var number = Int.random(in: 1...calls, using: &random)
        while true {
            let run = Run(segmentBytes: segmentBytes, writeBuffer: 512)
            run.disk.crash(atMutation: number, afterWriting: afterWriting)
            var returned = -1
            do {
                let store = try run.open()
                returned = 0
                for step in SampleStore.steps {
                    try step(store)
                    returned += 1
                }
                try store.close()
            } catch let error as StoreError {
                #expect(error.code == .inputOutput)
            }
            guard run.disk.hasCrashed else { break }
            let image = try DiskImage(of: run.base)
            let text: String
            do {
                text = try image.content().text
            } catch let error as StoreError {
                #expect(returned == -1 && error.code == .openFailed, "\(number): \(error)")
                text = contents[0]
            }
            let possible = contents[max(returned, 0)...min(returned + 1, contents.count - 1)]
            #expect(possible.contains(text), "crash at call \(number) after \(returned) commits")
            // Whoever opens it next goes on, and opening twice gives the same (RC1).
            let disk = try image.disk()
            let again = try LogStore.open(
                at: "/store", schema: try SampleStore.schema(),
                options: SampleStore.options(on: disk, segmentBytes: segmentBytes))
            #expect(try SampleStore.text(again) == text)
            try again.obtainIDOfCountry()
            try again.close()
            #expect(try DiskImage(of: disk).content().text == text)
            number += calls
        }
        #expect(number > 15)
    }

    @Test("A crash while a crashed store is taken over costs nothing")
    func crashesOfRecovery() throws {
        let history = try SampleStore.history(steps: 3, segmentBytes: 6000)
        var image = history.images[3]
        image.files["lock"] = []
        image.files[image.segments.last!]! += [1, 2, 3]
        image.files["0000000077.segment"] = [1, 2, 3]
        var number = 1
        while true {
            let base = try image.disk()
            let disk = FaultInjectingFileSystem(over: base)
            disk.crash(atMutation: number)
            do {
                let store = try LogStore.open(
                    at: "/store", options: SampleStore.options(on: disk, segmentBytes: 6000))
                try store.obtainIDOfCountry()
                try store.close()
            } catch let error as StoreError {
                #expect(error.code == .inputOutput)
            }
            let found = try DiskImage(of: base).content()
            #expect(found.text == history.contents[3], "crash at call \(number)")
            guard disk.hasCrashed else { break }
            number += 1
        }
        #expect(number > 5)
    }
}
