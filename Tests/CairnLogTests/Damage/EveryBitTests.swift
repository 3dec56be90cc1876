// Every bit of a store that has everything, flipped on its own: opening and reading everything gives the same
// content or an error that names the place.
//
// The files lie on one disk in memory, on which a byte is changed and put back; readers change nothing.

import CairnFileSystem
import CairnFormat
import CairnStore
import CairnTestSupport
import SystemPackage
import Testing

@testable import CairnLog

@Suite("Every bit of a store that has everything")
struct EveryBitTests {
    /// What reading a damaged store came to.
    enum Outcome {
        case content([UInt8], findings: [StoreError], usedCheckpoint: Bool)
        case error(StoreError)
    }

    /// Opens a store to read it and reads everything; `checks` also compares the indexes with the rows.
    static func read(_ disk: any FileSystem, checks: Bool = false) throws -> Outcome {
        var options = RichStore.options(on: disk)
        options.isReadOnly = true
        do {
            let store = try LogStore.open(at: "\(DiskImage.folder)", options: options)
            defer { try? store.close() }
            let content = try store.exported()
            return .content(
                content, findings: checks ? try store.check().findings : [],
                usedCheckpoint: store.recovery.checkpoint != nil)
        } catch let error as StoreError {
            return .error(error)
        }
    }

    /// The bits of files as one row of numbers: every one, or one here and there.
    struct Bits {
        let files: [(name: String, bytes: Int)]
        let step: Int
        /// The first bit: over the days all of them are one.
        private let first: Int

        init(_ image: DiskImage, _ names: [String], everyDay: Int) {
            files = names.map { ($0, image.files[$0]?.count ?? 0) }
            step = Campaign.step(everyDay)
            var random = RandomSource("bits of \(names)")
            first = Int.random(in: 0..<step, using: &random)
        }

        var count: Int { (files.reduce(0) { $0 + $1.bytes } * 8 - first + step - 1) / step }

        func place(_ number: Int) -> (name: String, offset: Int, mask: UInt8) {
            var bit = first + number * step
            for file in files {
                if bit < file.bytes * 8 { return (file.name, bit / 8, 1 << UInt8(bit % 8)) }
                bit -= file.bytes * 8
            }
            preconditionFailure("a bit behind the last one")
        }
    }

    /// Flips each of some bits on a disk and looks at what that does.
    static func forEachFlip(
        _ test: String, _ image: DiskImage, _ bits: Bits,
        _ look: (any FileSystem, String) throws -> Void
    ) throws {
        let disk = try image.disk()
        var files: [String: any File] = [:]
        for file in bits.files {
            files[file.name] = try disk.open(DiskImage.folder.appending(file.name), .readWrite)
        }
        try Rounds.run(test, count: bits.count) { number in
            let (name, offset, mask) = bits.place(Int(number))
            guard let file = files[name], let byte = image.files[name]?[offset] else { return }
            func put(_ byte: UInt8) throws {
                try withUnsafeBytes(of: byte) { try file.write($0, at: UInt64(offset)) }
            }
            try put(byte ^ mask)
            try look(disk, "bit \(mask.trailingZeroBitCount) of byte \(offset) of \(name)")
            try put(byte)
        }
        #expect(try DiskImage(of: disk) == image, "readers change nothing")
    }

    @Test(
        "Of the segments, without a checkpoint: an error that names the segment; the same content if it waits to be removed"
    )
    func withoutCheckpoint() throws {
        let store = try RichStore.made.get()
        var image = store.closed
        image.files[store.checkpoint] = nil
        try #require(try isNewest(try Self.read(try image.disk(), checks: true), store))
        let bits = Bits(image, image.segments, everyDay: 20_011)
        try Self.forEachFlip("segments without checkpoint", image, bits) { disk, place in
            switch try Self.read(disk) {
            case .error(let error): expectPlace(error, place)
            case .content(let content, _, _):
                let isDead = !store.live.contains { place.hasSuffix($0) }
                if !isDead || content != store.content { Issue.record("\(place) is not missed") }
            }
        }
    }

    @Test(
        "Of the segments, with a checkpoint: an error that names the segment, or the same content")
    func withCheckpoint() throws {
        let store = try RichStore.made.get()
        let image = store.closed
        try #require(try isNewest(try Self.read(try image.disk(), checks: true), store))
        let bits = Bits(image, image.segments, everyDay: 20_011)
        var same = 0
        var errors = 0
        try Self.forEachFlip("segments with checkpoint", image, bits) { disk, place in
            switch try Self.read(disk, checks: true) {
            case .error(let error):
                errors += 1
                expectPlace(error, place)
            case .content(let content, let findings, _):
                same += 1
                if content != store.content { Issue.record("\(place): another content") }
                for finding in findings where finding.code != .damaged {
                    Issue.record("\(place): \(finding)")
                }
            }
        }
        printLine("with a checkpoint: \(errors) errors, \(same) times the same content")
        #expect(same > 0 && errors > 0)
    }

    @Test("Of the checkpoint and of the mark: always the same content, and never an error (CK1)")
    func derived() throws {
        let store = try RichStore.made.get()
        for image in [store.closed, store.crashed] {
            let bits = Bits(image, [store.checkpoint, "lock"], everyDay: 4001)
            try Self.forEachFlip("checkpoint and mark", image, bits) { disk, place in
                let outcome = try Self.read(disk, checks: true)
                if try !isNewest(outcome, store) { Issue.record("\(place): \(outcome)") }
            }
        }
    }

    private func isNewest(_ outcome: Outcome, _ store: RichStore) throws -> Bool {
        guard case .content(let content, let findings, _) = outcome else { return false }
        return content == store.content && findings.isEmpty
    }

    private func expectPlace(_ error: StoreError, _ place: String) {
        guard error.code == .damaged, let segment = error.context.segment,
            error.context.offset != nil, place.hasSuffix(SegmentName.name(of: segment))
        else {
            Issue.record("\(place): \(error)")
            return
        }
    }
}
