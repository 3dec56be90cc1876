// Valid bytes with something changed, as a fuzzer does it.

extension RandomSource {
    private static let edges: [UInt64] = [
        0, 1, 2, 7, 8, 0x7f, 0x80, 0xff, 0x100, 0x3ff, 0x400, 0x7fff, 0x8000, 0xffff, 0x1_0000,
        0x3f_ffff, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff, 0x1_0000_0000, 1 << 62,
        0x7fff_ffff_ffff_ffff, 0x8000_0000_0000_0000, .max,
    ]

    /// Changes bytes in one to four ways: bits, numbers at their edges, small differences, parts that are gone,
    /// twice or elsewhere, words of a language.
    ///
    /// - Parameters:
    ///   - words: what is put in or over the bytes now and then.
    ///   - keepsLength: whether nothing is added or removed.
    package mutating func mutate(
        _ bytes: inout [UInt8], words: [[UInt8]] = [], keepsLength: Bool = false
    ) {
        for _ in 0..<(oneIn(2) ? 1 : Int.random(in: 2...4, using: &self)) {
            if bytes.isEmpty {
                if keepsLength { return }
                bytes = self.bytes(Int.random(in: 1...8, using: &self))
            } else if !words.isEmpty, oneIn(2) {
                putWord(words[Int.random(in: 0..<words.count, using: &self)], &bytes, keepsLength)
            } else {
                mutateOnce(&bytes, keepsLength)
            }
        }
    }

    private mutating func putWord(_ word: [UInt8], _ bytes: inout [UInt8], _ keepsLength: Bool) {
        let start = Int.random(in: 0...bytes.count, using: &self)
        let end = oneIn(2) ? start : min(bytes.count, start + word.count)
        if keepsLength {
            guard bytes.count >= start + word.count else { return }
            bytes.replaceSubrange(start..<start + word.count, with: word)
        } else {
            bytes.replaceSubrange(start..<end, with: word)
        }
    }

    private mutating func mutateOnce(_ bytes: inout [UInt8], _ keepsLength: Bool) {
        // Heads are small, and say most.
        let most = oneIn(2) ? min(bytes.count, 64) : bytes.count
        let at = Int.random(in: 0..<most, using: &self)
        switch Int.random(in: 0..<(keepsLength ? 7 : 11), using: &self) {
        case 0, 1: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &self)
        case 2: bytes[at] = UInt8(truncatingIfNeeded: next())
        case 3: bytes[at] &+= UInt8.random(in: 0...4, using: &self) &- 2
        case 4, 5:
            let width = [1, 2, 4, 8][Int.random(in: 0..<4, using: &self)]
            guard bytes.count >= width else { return }
            let start = min(at, bytes.count - width) / width * width
            let edge = Self.edges[Int.random(in: 0..<Self.edges.count, using: &self)]
            withUnsafeBytes(of: edge.littleEndian) {
                bytes.replaceSubrange(start..<start + width, with: $0.prefix(width))
            }
        case 6:
            let length = min(bytes.count - at, Int.random(in: 1...16, using: &self))
            let from = Int.random(in: 0...bytes.count - length, using: &self)
            bytes.replaceSubrange(at..<at + length, with: Array(bytes[from..<from + length]))
        case 7: bytes.removeSubrange(at...)
        case 8:
            let end = min(bytes.count, at + Int.random(in: 1...32, using: &self))
            bytes.removeSubrange(at..<end)
        case 9:
            let end = min(bytes.count, at + Int.random(in: 1...64, using: &self))
            bytes.insert(contentsOf: Array(bytes[at..<end]), at: at)
        default: bytes.insert(contentsOf: self.bytes(Int.random(in: 1...12, using: &self)), at: at)
        }
    }
}
