// Work that is interrupted at each call that changes the disk, one after the other: in a campaign at every one, every day at one
// in so many, from one that chance chooses.

import Foundation

package enum Interruption {
    /// The process ends at a call.
    ///
    /// - Parameters:
    ///   - everyDay: one in so many calls in an ordinary run.
    ///   - body: does the work on a disk that ends at the call of this number, and gives whether all of it was done; and
    ///     gets words that name the call.
    /// - Returns: The number of the call that the work did not reach.
    package static func ofProcess(
        oneIn everyDay: Int, using random: inout RandomSource, _ body: (Int, String) throws -> Bool
    ) rethrows -> Int {
        let step = Campaign.step(everyDay)
        var number = Int.random(in: 1...step, using: &random)
        while try !body(number, "call \(number), seed \(random.seed)") { number += step }
        return number
    }

    /// The power fails after a change of the disk, and after the last one.
    ///
    /// - Parameters:
    ///   - first: the number of changes before the work.
    ///   - everyDay: one in so many changes in an ordinary run.
    ///   - body: looks at what is left: an image, or nil if nothing is; whether all changes were made; and words that name it.
    package static func ofPower(
        _ disk: PowerLossDisk, after first: Int = 0, oneIn everyDay: Int,
        images: (everyDay: Int, whole: Int), using random: inout RandomSource,
        _ body: (DiskImage?, Bool, String) throws -> Void
    ) rethrows {
        let last = disk.changeCount
        for count in Campaign.sample(Array(first..<last), oneIn: everyDay, using: &random) + [last]
        {
            for _ in 0..<Campaign.count(images.everyDay, whole: images.whole) {
                let image = disk.image(after: count, &random)
                try body(image, count == last, "change \(count), seed \(random.seed)")
            }
        }
    }
}
