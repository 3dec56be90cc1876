// Random damage of many bytes: opening and reading everything gives a content that nothing contradicts, or an
// error that names the place.
//
// The oracle does not trust recovery: it knows where each frame was, and takes every header that is still whole
// at its place, and the mark, by its word. Below what they promise nothing may be missing.

import CairnFileSystem
import CairnFormat
import CairnStore
import CairnTestSupport
import SystemPackage
import Testing

@testable import CairnLog

@Suite("Random damage to a store")
struct RandomDamageTests {
    @Test("The content is one that nothing contradicts, or an error names the place")
    func random() throws {
        try random("random damage", try RichStore.made.get(), everyDay: 60, whole: 700_000)
    }

    @Test("The same without compaction")
    func randomWithoutCompaction() throws {
        try random("random damage, plain", try RichStore.plain.get(), everyDay: 40, whole: 300_000)
    }

    /// What a commit behind the checkpoint ended is looked up in blocks that nothing else reads at opening: the store is
    /// refused late, when its log was read to the end.
    @Test("A writer who is refused changes nothing, whichever sector is damaged")
    func refused() throws {
        // Without a mark: to write one would be a change.
        var whole = try RichStore.plain.get().crashed
        whole.files["lock"] = []
        var refused = 0
        for name in whole.segments {
            for offset in stride(from: 96, to: whole.files[name]?.count ?? 0, by: 512) {
                var image = whole
                image.files[name]?[offset] ^= 0x10
                let disk = try image.disk()
                var options = RichStore.options(on: disk)
                options.createsIfMissing = false
                do throws(StoreError) {
                    try LogStore.open(at: "\(DiskImage.folder)", options: options).close()
                } catch {
                    refused += 1
                    #expect(error.code == .damaged, "\(name) at \(offset): \(error)")
                    #expect(try DiskImage(of: disk) == image, "\(name) at \(offset)")
                }
            }
        }
        #expect(refused > 0)
    }

    private func random(_ test: String, _ store: RichStore, everyDay: Int, whole: Int) throws {
        var without = store.closed
        without.files[store.checkpoint] = nil
        var crashed = store.crashed
        crashed.files[store.checkpoint] = nil
        let images = [store.closed, without, store.crashed, crashed]
        var counts = (newest: 0, older: 0, errors: 0, writers: 0)
        try Rounds.run(test, everyDay: everyDay, whole: whole) { random in
            var image = images[Int.random(in: 0..<4, using: &random)]
            if random.oneIn(4) { image.files["lock"] = [] }
            var what: [String] = []
            for _ in 0..<(random.oneIn(2) ? 1 : Int.random(in: 1...4, using: &random)) {
                what.append(image.damage(&random))
            }
            let place = "seed \(random.seed): \(what.joined(separator: "; "))"
            let disk = try image.disk()
            let outcome = try EveryBitTests.read(disk, checks: random.oneIn(8))
            switch outcome {
            case .error(let error):
                counts.errors += 1
                if !isHonest(error, store, image) { Issue.record("\(place): \(error)") }
            case .content(let content, let findings, _):
                if content == store.content {
                    counts.newest += 1
                } else {
                    counts.older += 1
                    if !store.isHonest(content, of: image) {
                        Issue.record("\(place): lost or wrong without a word")
                    }
                }
                for finding in findings where finding.code != .damaged {
                    Issue.record("\(place): \(finding)")
                }
            }
            if random.oneIn(20) {
                counts.writers += 1
                try write(disk, image, after: outcome, place)
            }
        }
        printLine("\(test): \(counts)")
        #expect(counts.newest > 0 && counts.errors > 0)
    }

    /// Damage is named with its segment; a store of which nothing is left but what a broken creation leaves
    /// behind may be called unfinished.
    private func isHonest(_ error: StoreError, _ store: RichStore, _ image: DiskImage) -> Bool {
        if error.code == .damaged { return error.context.segment != nil }
        // Text that came from another file is not told from another program's.
        if error.message.contains("F-226"), let lock = image.files["lock"] {
            return lock.withUnsafeBytes { MarkRecord.isForeign($0) }
        }
        return error.code == .openFailed && store.promised(by: image) == 0
    }

    /// A writer sees what a reader saw. It changes nothing if it is refused; else it can go on.
    private func write(
        _ disk: MemoryFileSystem, _ image: DiskImage, after outcome: EveryBitTests.Outcome,
        _ place: String
    ) throws {
        var options = RichStore.options(on: disk)
        options.createsIfMissing = false
        do {
            let writer = try LogStore.open(at: "\(DiskImage.folder)", options: options)
            defer { try? writer.close() }
            guard case .content(let content, _, _) = outcome else {
                // What opening does not read is found when it is read.
                _ = try? writer.exported()
                return
            }
            #expect(try writer.exported() == content, "\(place)")
            do {
                try SampleStore.changedRows(writer)
                let changed = try writer.exported()
                try writer.close()
                let then = try EveryBitTests.read(disk)
                guard case .content(let again, _, _) = then else {
                    // The checkpoint may have hidden the damage and be of no use any more: its segment was
                    // retired, and the log has gone on to another one.
                    var bare = image
                    for name in bare.files.keys where name.hasPrefix("checkpoint") {
                        bare.files[name] = nil
                    }
                    guard case .error(let error) = then, error.code == .damaged,
                        case .error = try EveryBitTests.read(try bare.disk())
                    else {
                        Issue.record("\(place): not readable after a writer went on: \(then)")
                        return
                    }
                    return
                }
                #expect(again == changed, "\(place)")
            } catch let error as StoreError {
                // Damage in what nobody had read yet.
                #expect(error.code == .damaged, "\(place): \(error)")
            }
        } catch let error as StoreError {
            #expect(error.code == .damaged || error.code == .openFailed, "\(place): \(error)")
            #expect(try DiskImage(of: disk) == image, "\(place)")
        }
    }
}
