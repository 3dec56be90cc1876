// What of a write-ahead log SQLite does not read.
//
//   1. A log is a header of 32 bytes and frames: 24 bytes before each page. Each frame has the header's salts, and a
//      checksum over all that was written before it.
//   2. SQLite ends the log silently at the first frame whose checksum is wrong, and takes what comes before up to
//      the last frame that ends a transaction.
//   3. Frames with other salts behind that are left over from before the log began anew: they mean nothing. Those
//      with the same salts were written, and are not read.
//
// The layout: https://www.sqlite.org/fileformat2.html#the_write_ahead_log

import FoundationEssentials

/// A write-ahead log as SQLite would read it.
struct WriteAheadLog {
    private static let headerSize = 32
    private static let frameHeaderSize = 24

    /// What of the log is not read, as a sentence; nil if all of it is.
    let damage: String?

    /// - Parameter path: a log that nobody changes meanwhile.
    init(contentsOfFile path: String) throws {
        // A log may be large, and each byte is looked at once.
        let data = try Data(contentsOf: URL(filePath: path), options: .alwaysMapped)
        damage = data.withUnsafeBytes(Self.damage)
    }

    private static func damage(of bytes: UnsafeRawBufferPointer) -> String? {
        if bytes.isEmpty { return nil }
        guard let header = Header(bytes) else {
            return "its header is damaged: nothing of its \(bytes.count) bytes can be read"
        }
        let frameSize = frameHeaderSize + header.pageSize
        var sum = header.sum
        var (valid, committed) = (0, 0)
        var start = headerSize
        while start + frameSize <= bytes.count,
            header.isNext(UnsafeRawBufferPointer(rebasing: bytes[start..<start + frameSize]), &sum)
        {
            valid += 1
            // The size of the file after the transaction: frames within one have none.
            if word(bytes, start + 4) != 0 { committed = valid }
            start += frameSize
        }
        // Where what was written ends, a cut frame included.
        var end = start
        var isWhole = true
        for place in stride(from: start, to: bytes.count, by: frameSize)
        where place + 16 <= bytes.count && header.hasSalts(bytes, place + 8) {
            end = min(place + frameSize, bytes.count)
            isWhole = false
        }
        guard valid > committed || !isWhole else { return nil }
        let unread = end - headerSize - committed * frameSize
        let frames = (unread + frameSize - 1) / frameSize
        let reason =
            if isWhole {
                "its last transaction has no end"
            } else if start + frameSize > bytes.count {
                "it is cut off within frame \(valid + 1)"
            } else {
                "frame \(valid + 1) is damaged"
            }
        return
            "\(reason): \(frames) of its frames, \(unread) bytes after frame \(committed), cannot be read, and their changes are missing"
    }

    /// Numbers have their highest byte first, except where checksums are made.
    private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt32 {
        UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    private struct Sum: Equatable {
        var first: UInt32 = 0
        var second: UInt32 = 0

        /// Goes on over bytes, whose number is a multiple of eight.
        mutating func add(_ bytes: UnsafeRawBufferPointer, isBigEndian: Bool) {
            for offset in stride(from: 0, to: bytes.count, by: 8) {
                let one = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
                let other = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
                first &+= (isBigEndian ? one.bigEndian : one.littleEndian) &+ second
                second &+= (isBigEndian ? other.bigEndian : other.littleEndian) &+ first
            }
        }
    }

    private struct Header {
        let isBigEndian: Bool
        let pageSize: Int
        let salts: (UInt32, UInt32)
        let sum: Sum

        /// Nil if it is none that SQLite takes.
        init?(_ bytes: UnsafeRawBufferPointer) {
            guard bytes.count >= headerSize, word(bytes, 0) & ~1 == 0x377F_0682 else { return nil }
            isBigEndian = word(bytes, 0) & 1 == 1
            let size = word(bytes, 8)
            guard size >= 512, size <= 65_536, size & (size - 1) == 0 else { return nil }
            pageSize = Int(size)
            salts = (word(bytes, 16), word(bytes, 20))
            var sum = Sum()
            sum.add(.init(rebasing: bytes[..<24]), isBigEndian: isBigEndian)
            guard sum == Sum(first: word(bytes, 24), second: word(bytes, 28)) else { return nil }
            self.sum = sum
        }

        func hasSalts(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> Bool {
            (word(bytes, offset), word(bytes, offset + 4)) == salts
        }

        /// Whether a frame is the next one after those that a sum is of.
        func isNext(_ frame: UnsafeRawBufferPointer, _ sum: inout Sum) -> Bool {
            guard hasSalts(frame, 8), word(frame, 0) != 0 else { return false }
            sum.add(.init(rebasing: frame[..<8]), isBigEndian: isBigEndian)
            sum.add(.init(rebasing: frame[frameHeaderSize...]), isBigEndian: isBigEndian)
            return sum == Sum(first: word(frame, 16), second: word(frame, 20))
        }
    }
}
