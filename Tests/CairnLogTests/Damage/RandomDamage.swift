// Random damage to the files of a store, as disks and people do it.

import CairnTestSupport

@testable import CairnLog

extension DiskImage {
    /// Does one thing to one file; says what.
    mutating func damage(_ random: inout RandomSource) -> String {
        let names = files.keys.sorted()
        // Mostly segments: checkpoint and mark are small, or are passed over anyway.
        let segments = self.segments
        let name =
            random.oneIn(6) || segments.isEmpty
            ? names.randomElement(using: &random) : segments.randomElement(using: &random)
        guard let name, var bytes = files[name], !bytes.isEmpty else { return "nothing" }
        let other = files[names.randomElement(using: &random) ?? name] ?? []
        let what = Self.damage(&bytes, other, &random)
        files[name] = bytes
        return "\(name): \(what)"
    }

    /// A length that is often small, and often a sector.
    private static func length(_ most: Int, _ random: inout RandomSource) -> Int {
        let length =
            switch Int.random(in: 0..<6, using: &random) {
            case 0: Int.random(in: 1...8, using: &random)
            case 1, 2: Int.random(in: 1...64, using: &random)
            case 3: 512
            case 4: 4096
            default: Int.random(in: 1...max(1, most), using: &random)
            }
        return min(length, most)
    }

    private static func position(_ count: Int, _ length: Int, _ random: inout RandomSource) -> Int {
        let last = count - length
        let position = Int.random(in: 0...last, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return position & ~511
        case 1: return position & ~7
        case 2 where last > 4096: return last - position % 600
        default: return position
        }
    }

    private static func damage(
        _ bytes: inout [UInt8], _ other: [UInt8], _ random: inout RandomSource
    ) -> String {
        let length = length(bytes.count, &random)
        let start = position(bytes.count, length, &random)
        let range = start..<start + length
        switch Int.random(in: 0..<12, using: &random) {
        case 0, 1:
            bytes.replaceSubrange(range, with: random.bytes(length))
            return "\(range) random"
        case 2:
            let byte: UInt8 = random.oneIn(2) ? 0 : 0xFF
            bytes.replaceSubrange(range, with: [UInt8](repeating: byte, count: length))
            return "\(range) filled with \(byte)"
        case 3:
            let bits = Int.random(in: 1...8, using: &random)
            for _ in 0..<bits {
                let at = range.randomElement(using: &random) ?? start
                bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
            return "\(bits) bits in \(range)"
        case 4:
            let from = position(bytes.count, length, &random)
            bytes.replaceSubrange(range, with: Array(bytes[from..<from + length]))
            return "\(range) from \(from)"
        case 5, 6:
            // The same place of another file, as a disk does that writes to the wrong one, or any place.
            guard other.count >= length else { return "nothing" }
            let from =
                other.count >= range.upperBound && random.oneIn(2)
                ? start : position(other.count, length, &random)
            bytes.replaceSubrange(range, with: other[from..<from + length])
            return "\(range) from \(from) of another file"
        case 7:
            bytes.removeSubrange((random.oneIn(3) ? length : start)...)
            return "cut to \(bytes.count)"
        case 8:
            bytes.insert(contentsOf: Array(bytes[range]), at: start)
            return "\(range) twice"
        case 9:
            bytes.removeSubrange(range)
            return "\(range) gone"
        case 10:
            bytes += random.oneIn(2) ? random.bytes(length) : Array(bytes[range])
            return "\(length) bytes more"
        default:
            let sector = 512
            guard bytes.count >= 2 * sector else { return "nothing" }
            let one = Int.random(in: 0..<bytes.count / sector, using: &random) * sector
            let two = Int.random(in: 0..<bytes.count / sector, using: &random) * sector
            for index in 0..<sector { bytes.swapAt(one + index, two + index) }
            return "sectors at \(one) and \(two) swapped"
        }
    }
}
