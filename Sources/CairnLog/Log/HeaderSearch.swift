// Searches for frame headers at every eighth byte of a file, whatever is in between.                Format 60
//
// After a failure the chain is lost, but whole frames still record how far the log was durable.

import CairnFileSystem
import CairnFormat
import CairnStore

struct HeaderSearch: ~Copyable {
    private let file: any File
    private var position: UInt64
    private var window = RawBytes(count: 1 << 20)
    private var windowStart: UInt64 = 0
    private var windowCount = 0

    init(_ file: any File, from start: UInt64) {
        self.file = file
        position = start
    }

    /// Whether the file contains a valid header of a frame of the segment.
    mutating func holdsFrame(of segment: UInt32) throws(StoreError) -> Bool {
        while let (header, _) = try next() {
            if header.segment == segment { return true }
        }
        return false
    }

    /// Returns the next valid header and its offset; nil at the end of the file.
    mutating func next() throws(StoreError) -> (header: FrameHeader, offset: UInt64)? {
        while try fill() {
            let at = Int(position - windowStart)
            let offset = position
            position += 8
            let bytes = UnsafeRawBufferPointer(rebasing: window.bytes[at..<at + FrameHeader.size])
            guard bytes.loadUnaligned(as: UInt32.self) == FrameHeader.magic.littleEndian,
                let header = try? FrameHeader(decoding: bytes)
            else { continue }
            return (header, offset)
        }
        return nil
    }

    /// Makes sure that a header's bytes are in the window.
    private mutating func fill() throws(StoreError) -> Bool {
        let needed = UInt64(FrameHeader.size)
        if position >= windowStart, position + needed <= windowStart + UInt64(windowCount) {
            return true
        }
        do {
            windowCount = try file.read(into: window.mutable, at: position)
        } catch {
            throw StoreError(error)
        }
        windowStart = position
        return windowCount >= FrameHeader.size
    }
}
