import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog

@Suite("Bytes that somebody has made on purpose")
struct HostileFrameTests {
    /// Opens, exports and checks: an error or a content, and nothing else.
    private func readAll(_ image: DiskImage, comment: String) -> Bool {
        do {
            _ = try image.content { store in
                _ = try store.check()
                for entity in store.schema.entities {
                    let fetch = StoreFetch(entity: entity.index)
                    let snapshot = try store.snapshot()
                    let ids = try snapshot.fetch(fetch).ids
                    for (index, relationship) in entity.relationships.enumerated()
                    where relationship.description.isToMany {
                        _ = try snapshot.members(
                            ofRelationship: index, entity: entity.index, owners: ids)
                    }
                }
            }
            return true
        } catch let error as StoreError {
            #expect(error.code == .damaged || error.code == .openFailed, "\(comment): \(error)")
        } catch {
            Issue.record("\(comment): \(error)")
        }
        return false
    }

    private func writeSome(_ image: DiskImage) throws {
        let disk = try image.disk()
        do {
            let store = try LogStore.open(at: "/store", options: RichStore.options(on: disk))
            defer { try? store.close() }
            for step in SampleStore.steps { try step(store) }
            var fetch = try SampleStore.fetch(store, .compare("code", .notEqual, .string("?")))
            fetch.includesRows = true
            _ = try store.execute(BatchDeleteRequest(.fetch(fetch)))
        } catch is StoreError {}
    }

    @Test(
        "Whatever a frame says, reading and writing end with an error or a content, never with a trap"
    )
    func payloads() throws {
        let history = try SampleStore.history(steps: 7)
        try hostile("hostile frames", history.closed, from: 0, everyDay: 100, whole: 200_000)
    }

    @Test("The same behind a checkpoint, in several segments")
    func behindCheckpoint() throws {
        let rich = try RichStore.plain.get()
        let bytes = rich.closed.files[rich.checkpoint] ?? []
        let header = try bytes.withUnsafeBytes {
            try CheckpointHeader(decoding: $0, fileLength: UInt64($0.count))
        }
        let known = rich.frames.count { $0.header.lsn < header.lsn }
        try hostile(
            "hostile frames behind a checkpoint", rich.closed, from: known, everyDay: 40,
            whole: 200_000)
    }

    @Test("The same in the segment that adopts and retires others, with a checkpoint and without")
    func adoptions() throws {
        let rich = try RichStore.made.get()
        var without = rich.closed
        without.files[rich.checkpoint] = nil
        let last = rich.frames.last?.segment
        let names = [last].compactMap { $0 }
        try hostile(
            "hostile compaction", rich.closed, names, from: 0, everyDay: 40, whole: 100_000)
        try hostile(
            "hostile compaction, log", without, names, from: 0, everyDay: 40, whole: 100_000)
    }

    /// Changes frames from one on, makes everything else right, and uses the store.
    private func hostile(
        _ test: String, _ whole: DiskImage, _ names: [String]? = nil, from first: Int,
        everyDay: Int,
        whole count: Int
    ) throws {
        let store = try SealedStore(whole, names ?? whole.segments)
        var image = whole
        image.files.merge(try store.sealed()) { $1 }
        #expect(try image.content().text == whole.content().text)
        image.files["lock"] = []
        var opened = 0
        var refused = 0
        try Rounds.run(test, everyDay: everyDay, whole: count) { random in
            var hostile = store
            let index = Int.random(in: first..<store.frames.count, using: &random)
            for _ in 0..<(random.oneIn(3) ? 3 : 1) {
                Self.change(&hostile.frames[index], &random)
            }
            if random.oneIn(20) {
                hostile.frames.insert(
                    store.frames.randomElement(using: &random) ?? store.frames[0], at: index)
            } else if random.oneIn(20) {
                hostile.frames.remove(at: index)
            }
            image.files.merge(try hostile.sealed()) { $1 }
            if readAll(image, comment: "seed \(random.seed)") {
                opened += 1
                if random.oneIn(3) { try writeSome(image) }
            } else {
                refused += 1
            }
        }
        #expect(refused > 0)
        // One in ten or twenty.
        if opened + refused >= 100 { #expect(opened > 0) }
        printLine("\(test): \(opened) opened, \(refused) refused")
    }

    private static func change(_ frame: inout SealedStore.Frame, _ random: inout RandomSource) {
        frame.isChanged = true
        let edges: [UInt64] = [0, 1, 7, 1 << 32, 1 << 62, .max - 1, .max]
        switch Int.random(in: 0..<12, using: &random) {
        case 0: frame.header.commit = edges.randomElement(using: &random) ?? 0
        case 1: frame.header.commit &+= random.oneIn(2) ? 1 : .max
        case 2: frame.header.rawKind = UInt8.random(in: 1...14, using: &random)
        case 3, 4, 5, 6:
            // A small change behind the head: most of these are other values, which are read.
            guard frame.payload.count > 300 else { fallthrough }
            let at = Int.random(in: 250..<frame.payload.count, using: &random)
            frame.payload[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        default: random.mutate(&frame.payload, keepsLength: random.oneIn(2))
        }
        // Blocks have checksums of their own, which would hide what is behind them.
        if frame.header.kind == .block, !random.oneIn(4) { sealBlock(&frame.payload) }
        if frame.header.kind == .patch, !random.oneIn(4) { sealPatch(&frame.payload) }
    }
}
