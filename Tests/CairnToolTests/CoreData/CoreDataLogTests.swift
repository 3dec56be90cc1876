// A write-ahead log that SQLite does not read to its end is not passed over in silence.

import CairnTestSupport
import Foundation
import Testing

@Suite("The log of a store of Core Data")
struct CoreDataLogTests {
    private static let frameSize = 24 + 4096

    /// A store whose objects are in the log: a transaction each.
    private func made(_ work: borrowing CoreDataWorkplace, in transaction: Bool = false) throws
        -> Data
    {
        let other = work.folder.path("open.sqlite")
        let file = try ClubStore.make(other, keepsLog: true)
        if transaction { try file.run("BEGIN") }
        for key in 1...20 as ClosedRange<Int64> {
            // Rows of a page and more.
            let text = String(repeating: "x", count: 4_000)
            try ClubStore.add("ZPERSON", key, 3, ["ZNAME": "'\(key) \(text)'"], to: file)
        }
        if transaction { try file.run("COMMIT") }
        for ending in ["", "-wal"] {
            try? FileManager.default.removeItem(atPath: work.old + ending)
            try FileManager.default.copyItem(atPath: other + ending, toPath: work.old + ending)
        }
        file.finish()
        try FileManager.default.removeItem(atPath: other)
        return try Data(contentsOf: URL(fileURLWithPath: work.old + "-wal"))
    }

    /// Imports with another log, and gives the objects and what is said of the log.
    private func brought(_ work: borrowing CoreDataWorkplace, _ log: Data) throws -> (
        code: Int32, objects: Int?, log: [String]
    ) {
        try log.write(to: URL(fileURLWithPath: work.old + "-wal"))
        let run = work.bring("--json")
        let report = try #require(try run.json.first, "\(run.errors)")
        try FileManager.default.removeItem(atPath: work.new)
        let losses = try #require(report["losses"] as? [[String: Any]])
        return (
            run.code, Int(report, "objects"),
            losses.filter { $0["kind"] as? String == "log" }.compactMap {
                $0["message"] as? String
            }
        )
    }

    @Test("a damaged frame hides itself and all behind it: that is said")
    func damaged() throws {
        let work = try CoreDataWorkplace()
        let sound = try made(work)
        let whole = try brought(work, sound)
        #expect(whole == (0, 20, []))
        let frames = (sound.count - 32) / Self.frameSize
        let broken = frames - 10
        var log = sound
        log[32 + (broken - 1) * Self.frameSize + 2_000] ^= 1
        let result = try brought(work, log)
        #expect(result.code == 4)
        #expect(result.objects ?? 20 < 20)
        let message = try #require(result.log.first)
        #expect(message.hasPrefix("frame \(broken) is damaged: "), "\(message)")
        #expect(message.hasSuffix("cannot be read, and their changes are missing"))
        try log.write(to: URL(fileURLWithPath: work.old + "-wal"))
        let said = work.bring()
        #expect(said.code == 4)
        #expect(said.output.contains("  \(work.old)-wal: \(message)\n"), "\(said.output)")
    }

    @Test("a log that is cut off, within a frame or a transaction")
    func cut() throws {
        let work = try CoreDataWorkplace()
        let sound = try made(work, in: true)
        let frames = (sound.count - 32) / Self.frameSize
        let within = try brought(work, sound.dropLast(100))
        #expect(within.code == 4)
        #expect(within.objects == 0)
        #expect(
            within.log.first?.hasPrefix("it is cut off within frame \(frames): ") == true,
            "\(within.log)")
        let between = try brought(work, sound.dropLast(Self.frameSize))
        #expect(between.code == 4)
        #expect(between.objects == 0)
        #expect(
            between.log.first?.hasPrefix("its last transaction has no end: ") == true,
            "\(between.log)")
    }

    @Test("a damaged header makes the whole log unreadable")
    func header() throws {
        let work = try CoreDataWorkplace()
        let sound = try made(work)
        // With the tables in the file itself there is a store without the log.
        let file = try CoreDataFile(adopting: work.old)
        file.finish()
        var log = sound
        log[17] ^= 1
        let result = try brought(work, log)
        #expect(result.code == 4)
        #expect(
            result.log == [
                "its header is damaged: nothing of its \(sound.count) bytes can be read"
            ])
        // Where nothing of the store is in the file the error names the log.
        _ = try made(work)
        try log.write(to: URL(fileURLWithPath: work.old + "-wal"))
        let refused = work.bring()
        #expect(refused.code == 1)
        #expect(refused.errors.contains("-wal: its header is damaged"), "\(refused.errors)")
    }

    @Test("frames that are left over from before the log began anew mean nothing")
    func leftovers() throws {
        let work = try CoreDataWorkplace()
        let sound = try made(work)
        var log = sound
        var old = Data(sound.suffix(2 * Self.frameSize))
        for frame in 0..<2 { old[old.startIndex + frame * Self.frameSize + 8] ^= 1 }
        log += old
        #expect(try brought(work, log) == (0, 20, []))
        #expect(try brought(work, log.dropLast(Self.frameSize + 7)) == (0, 20, []))
    }
}
