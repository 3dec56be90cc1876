// Salvage of stores that were damaged at random.

import CairnFileSystem
import CairnFormat
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

@Suite("Salvage of stores damaged at random")
struct SalvageCampaignTests {
    /// Damages some bytes, a run of bytes, a whole file or its length.
    static func damage(_ image: inout DiskImage, _ random: inout RandomSource) {
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let names = image.files.keys.sorted().filter { !image.files[$0]!.isEmpty }
            guard let name = names.randomElement(using: &random) else { return }
            let count = image.files[name]!.count
            switch Int.random(in: 0..<12, using: &random) {
            case 0: image.files[name] = nil
            case 1: image.files[name]!.removeLast(Int.random(in: 1...count, using: &random))
            case 2:
                let start = Int.random(in: 0..<count, using: &random)
                let end = min(count, start + Int.random(in: 1...3000, using: &random))
                for index in start..<end { image.files[name]![index] = 0 }
            case 3:
                let start = Int.random(in: 0..<count, using: &random)
                let end = min(count, start + Int.random(in: 1...600, using: &random))
                image.files[name]!.replaceSubrange(start..<end, with: random.bytes(end - start))
            case 4:
                // Bytes of elsewhere in the store.
                let other = image.files[names.randomElement(using: &random)!]!
                let from = Int.random(in: 0..<other.count, using: &random)
                let piece = Array(other[from..<min(other.count, from + 4096)])
                let at = Int.random(in: 0..<count, using: &random)
                let end = min(count, at + piece.count)
                image.files[name]!.replaceSubrange(at..<end, with: piece.prefix(end - at))
            case 5:
                let start = Int.random(in: 0..<count, using: &random) & ~7
                image.files[name]!.removeSubrange(start..<min(count, start + 64))
            default:
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    let at = Int.random(in: 0..<count, using: &random)
                    image.files[name]![at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                }
            }
        }
    }

    @Test(
        "Whatever is damaged, salvage ends; what it gives was there once and passes every check",
        arguments: [1 << 30, 6000] as [UInt64], [true, false])
    func atRandom(segmentBytes: UInt64, closes: Bool) throws {
        var random = RandomSource()
        let history = try SampleStore.history(
            steps: 7, segmentBytes: segmentBytes, closes: closes)
        let whole = closes ? history.closed : try #require(history.images.last)
        let content = try #require(history.contents.last)
        var kept = 0
        let rounds = Campaign.count(15, whole: 20_000)
        for round in 0..<rounds {
            var image = whole
            Self.damage(&image, &random)
            let comment = "round \(round), seed \(random.seed)"
            do {
                let salvaged = try SalvagedStore(
                    image, options: try .withSampleSchema, hashBits: round % 3 == 0 ? 3 : 32)
                kept += salvaged.rows.count
                salvaged.expectNothingInvented(history.contents, comment)
                if let opened = try? image.content() {
                    // What opens is salvaged as it opens.
                    #expect(salvaged.text == opened.text, "\(comment)")
                } else if salvaged.report.isWhole {
                    #expect(
                        salvaged.text == content || image.segments.isEmpty,
                        "\(comment): what is lost is said")
                }
            } catch let error as StoreError {
                #expect(
                    error.code == .openFailed || error.code == .damaged, "\(comment): \(error)")
                #expect(image.segments.isEmpty || error.code == .damaged, "\(comment): \(error)")
            }
        }
        #expect(kept > rounds)
    }
}
