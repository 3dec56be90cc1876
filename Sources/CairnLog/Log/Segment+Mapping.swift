// Frames of a segment in mapped memory.
//
// The file is mapped in windows, when they are first needed. A frame in two windows, and one that cannot be
// read, is left to a call that copies, and that reports why.

import CairnFileSystem
import CairnFormat
import CairnStore
import Synchronization

extension Segment {
    /// How a payload gets into memory.
    package enum Reading {
        /// It is copied.
        case copied
        /// It stays in the system's cache if the file can be mapped.
        ///
        /// - Parameters:
        ///   - length: the expected length of the frame, in bytes; 0: unknown.
        ///   - isScan: whether what follows it will probably be read as well.
        case mapped(length: Int, isScan: Bool = false)
    }

    /// A part of the file that is mapped at once.
    enum Window {
        case unknown, failed
        case mapped(FileMapping)
    }

    private static let windowBits: UInt64 = 26
    /// About how many bytes the system reads with a header.
    static let guessedBytes = 8 << 10
    /// A scan announces its next bytes whenever it has read another piece of them.
    private static let scanPiece: UInt64 = 512 << 10

    /// Returns the header and the padded payload of a frame; nil if it cannot be mapped.
    func mappedFrame(
        at offset: UInt64, _ storeTag: UInt32, _ length: Int, _ isScan: Bool
    ) throws -> (FrameHeader, RawBytes)? {
        guard let window = window(of: offset) else { return nil }
        let start = Int(offset & (1 << Self.windowBits - 1))
        let known = max(length, FrameHeader.size)
        // A page that is not in the system's cache would be read with others around it.
        advise(at: offset, known, isScan)
        guard var bytes = window.bytes(start..<start + known) else { return nil }
        let header = try self.header(bytes, at: offset, storeTag)
        guard header.payloadLength > 0 else { return nil }
        let whole = header.frameLength
        if whole > bytes.count {
            advise(at: offset, whole, isScan)
            guard let more = window.bytes(start..<start + whole) else { return nil }
            bytes = more
        }
        let payload = UnsafeRawBufferPointer(rebasing: bytes[FrameHeader.size..<whole])
        return (header, RawBytes(payload, of: window))
    }

    private func advise(at offset: UInt64, _ count: Int, _ isScan: Bool) {
        let end = offset + UInt64(count)
        if isScan {
            if offset / Self.scanPiece != end / Self.scanPiece {
                file.advise(at: end, count: 2 * Self.scanPiece)
            }
        } else if count > Self.guessedBytes {
            file.advise(at: offset, count: UInt64(count))
        }
    }

    private func window(of offset: UInt64) -> FileMapping? {
        if !FileMapping.isSupported { return nil }
        let index = Int(offset >> Self.windowBits)
        return windows.withLock { windows in
            while windows.count <= index { windows.append(.unknown) }
            if case .unknown = windows[index] {
                windows[index] = map(index).map { .mapped($0) } ?? .failed
            }
            guard case .mapped(let window) = windows[index] else { return nil }
            return window
        }
    }

    private func map(_ index: Int) -> FileMapping? {
        let start = UInt64(index) << Self.windowBits
        // A segment that takes commits grows into its window.
        let end = min(knownEnd ?? .max, start + 1 << Self.windowBits)
        return end > start ? file.map(at: start, count: Int(end - start)) : nil
    }
}
