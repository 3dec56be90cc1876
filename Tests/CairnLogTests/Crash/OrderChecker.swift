// Holds every call against the protocol of the log, whatever the power does later.
//
//   FS1   A name is durable before a synced byte refers to it: the folder and the lock before a segment, a
//         segment before its second frame, a predecessor and its content before the successor's header.
//         A side segment is durable as far as a synced frame adopts it.
//   FS2   Nothing is unlinked before what replaces it is durable; no segment before its retirement is.
//   FS3   Growth is durable no later than what counts on it; with it, what a mark claims to be durable is,
//         content and size and name. The marks of frames and of the mark file are looked at when written.
//   SG1   Bytes below what a mark file claimed never change.
//   CK2   A checkpoint stands on a log that is durable, and is durable before its name is.
//   F-222 A copy's files change only while its record durably says that they may, and it says that they are whole
//         only when they are, with their names. What only the old copy has goes when that is durable.
//   F-223 Whoever writes to a copy has durably said so, and what an unfinished copy hid is gone before.
//   F-656 A side segment's header and name are durable before a frame is written behind it.
//
// Threads: a plain value, under the lock of the disk.

import CairnFormat
import Foundation

struct OrderChecker: Sendable {
    private(set) var problems: [String] = []
    /// The newest claim of the mark file.
    private var claim: MarkRecord?
    /// Whether the newest claim must be durable before a segment is changed.
    private var mustBeSaid = false
    /// Files that this process made: what an earlier one left unfinished is nobody's promise.
    private var made: Set<Int> = []

    private mutating func find(_ problem: @autoclosure () -> String) {
        if problems.count < 20 { problems.append(problem()) }
    }

    // MARK: Copies

    /// What the mark file says, whoever wrote it.
    private func record(_ state: DiskState) -> MarkRecord? {
        guard let lock = state.names[SegmentName.lock] else { return nil }
        return state.files[lock].seen.withUnsafeBytes { try? MarkRecord(decoding: $0) }
    }

    /// Whether files are being copied into the folder, or that broke off.
    private func isCopying(_ state: DiskState) -> Bool { record(state)?.role == .unfinishedCopy }

    /// The claim of the mark file is about to change.
    private mutating func willClaim(_ mark: MarkRecord, _ state: DiskState) {
        if mark.role == .copy {
            let isWhole = state.names.allSatisfy { name, file in
                name == SegmentName.lock || state.files[file].pending.isEmpty
            }
            if !isWhole || !state.pendingNames.isEmpty {
                find("F-222: a copy is called whole, and is not durable")
            }
        } else if !mark.role.isCopy, isCopying(state) {
            let isCut = state.names.allSatisfy { name, file in
                SegmentName.number(in: name) == nil || state.files[file].pending.isEmpty
            }
            if !isCut { find("F-223: an unfinished copy is written to before it is cut off") }
        }
        mustBeSaid = mark.role.isCopy || record(state)?.role.isCopy ?? false
        claim = mark
    }

    /// A segment is about to be changed or removed.
    private mutating func willChange(_ name: String, _ state: DiskState) {
        guard mustBeSaid, let lock = state.names[SegmentName.lock] else { return }
        let (seen, durable) = (state.files[lock].seen, state.files[lock].durable)
        if durable.prefix(MarkRecord.size) == seen.prefix(MarkRecord.size) {
            mustBeSaid = false
        } else {
            find("F-222, F-223: \(name) changes before the record says so durably")
        }
    }

    // MARK: What the state says

    private struct Member {
        var number: UInt32
        var file: Int
        var header: Head
    }

    /// What the header of a segment says of its place. Decoding all of it takes too long for every call.
    private struct Head {
        var number: UInt32
        var isSide: Bool
        var predecessor: UInt32
        var baseLSN: UInt64
        var predecessorEnd: UInt64

        init?(_ bytes: [UInt8]) {
            let size = SegmentHeader.size
            guard bytes.count >= size else { return nil }
            let fields = bytes.withUnsafeBytes { bytes -> Head? in
                guard bytes.loadUnaligned(as: UInt64.self) == SegmentHeader.magic,
                    bytes.loadUnaligned(fromByteOffset: size - 4, as: UInt32.self)
                        == Checksum.crc32c(UnsafeRawBufferPointer(rebasing: bytes[..<(size - 4)]))
                else { return nil }
                return Head(
                    number: bytes.loadUnaligned(fromByteOffset: 32, as: UInt32.self),
                    isSide: bytes.loadUnaligned(fromByteOffset: 12, as: UInt32.self)
                        == SegmentKind.side.rawValue,
                    predecessor: bytes.loadUnaligned(fromByteOffset: 36, as: UInt32.self),
                    baseLSN: bytes.loadUnaligned(fromByteOffset: 40, as: UInt64.self),
                    predecessorEnd: bytes.loadUnaligned(fromByteOffset: 48, as: UInt64.self))
            }
            guard let fields else { return nil }
            self = fields
        }

        private init(
            number: UInt32, isSide: Bool, predecessor: UInt32, baseLSN: UInt64,
            predecessorEnd: UInt64
        ) {
            self.number = number
            self.isSide = isSide
            self.predecessor = predecessor
            self.baseLSN = baseLSN
            self.predecessorEnd = predecessorEnd
        }
    }

    /// The main segments with whole headers, in order.
    private func segments(_ state: DiskState) -> [Member] {
        state.names.compactMap { name, file in
            guard let number = SegmentName.number(in: name),
                let header = Head(state.files[file].seen), header.number == number, !header.isSide
            else { return nil }
            return Member(number: number, file: file, header: header)
        }.sorted { $0.number < $1.number }
    }

    /// Whether the beginning of a file is durable, with its name.
    private func isDurable(_ file: Int, _ name: String, upTo end: Int, _ state: DiskState) -> Bool {
        let content = state.files[file]
        return state.folder == .durable && state.durableNames[name] == file
            && content.durable.count >= end
            && content.durable.withUnsafeBytes { durable in
                content.seen.withUnsafeBytes { seen in
                    guard seen.count >= end, let durable = durable.baseAddress,
                        let seen = seen.baseAddress
                    else { return end == 0 }
                    return memcmp(durable, seen, end) == 0
                }
            }
    }

    /// Whether the log is durable up to a position.
    private func isDurable(upTo lsn: UInt64, _ state: DiskState) -> Bool {
        let all = segments(state)
        for (index, segment) in all.enumerated() where segment.header.baseLSN < lsn {
            let next = index + 1 < all.count ? all[index + 1].header : nil
            // A successor of nobody in this list is one that was begun in vain.
            var end = min(lsn, next.map(\.baseLSN) ?? lsn)
            if let next, next.predecessor != segment.number {
                // What followed has been retired; all of this one is behind.
                end = min(
                    end, segment.header.baseLSN + UInt64(state.files[segment.file].seen.count))
            }
            guard
                isDurable(
                    segment.file, SegmentName.name(of: segment.number),
                    upTo: Int(end - segment.header.baseLSN), state)
            else { return false }
        }
        return true
    }

    // MARK: Names

    mutating func didCreate(_ file: Int) { made.insert(file) }

    mutating func willSyncNames(_ state: DiskState) {
        for case .create(let name, let file) in state.pendingNames
        where state.names[name] == file && made.contains(file) && name != SegmentName.lock {
            let content = state.files[file]
            let isWhole =
                CheckpointName.commit(in: name) != nil
                ? content.pending.isEmpty && !content.durable.isEmpty
                : content.durable.count > SegmentHeader.size
                    || Head(content.durable).map(\.isSide) ?? false
            if !isWhole { find("CK2, FS1: the name of \(name) is synced before its content") }
        }
    }

    mutating func willUnlink(_ name: String, couldRead: Bool, _ state: DiskState) {
        guard let file = state.names[name] else { return }
        if SegmentName.number(in: name) != nil { willChange(name, state) }
        if let commit = CheckpointName.commit(in: name) {
            let isNeeded =
                isDurable(file, name, upTo: state.files[file].seen.count, state)
                && state.files[file].seen.withUnsafeBytes {
                    (try? CheckpointHeader(decoding: $0, fileLength: UInt64($0.count))) != nil
                }
            let isReplaced = state.names.contains { other, newer in
                CheckpointName.commit(in: other).map { $0 > commit } ?? false
                    && isDurable(newer, other, upTo: state.files[newer].seen.count, state)
            }
            if couldRead, isNeeded, !isReplaced {
                find("FS2: \(name) goes before a newer one is durable")
            }
        } else if let number = SegmentName.number(in: name) {
            let (newest, ends) = live(state)
            let isNewest = number >= newest
            // F-220: what lies above is no part of a copy that is not finished.
            if let record = record(state), record.role == .unfinishedCopy, number > record.segment {
                return
            }
            if ends[number] != nil
                || isNewest && Self.holdsCommit(state.files[file].durable, number)
            {
                find("FS2: \(name) goes, which is part of the store")
            }
        } else {
            find("FS2: \(name) goes")
        }
    }

    /// The store as the durable part of its newest segment has it: up to where each segment counts.
    private func live(_ state: DiskState) -> (newest: UInt32, ends: [UInt32: UInt64]) {
        let newest = segments(state).last {
            state.durableNames[SegmentName.name(of: $0.number)] == $0.file
                && Self.hasStart(state.files[$0.file].durable, of: $0.number)
        }
        guard let newest else { return (0, [:]) }
        var ends: [UInt32: UInt64] = [:]
        state.files[newest.file].durable.withUnsafeBytes { bytes in
            var open: (parts: [AdoptPayload.Part], retired: [UInt32]) = ([], [])
            var isWhole = true
            Self.frames(bytes, from: SegmentHeader.size) { frame, payload in
                isWhole = isWhole && Self.isWhole(frame, payload, of: newest.number)
                guard isWhole else { return }
                switch frame.kind {
                case .start:
                    for member in (try? StartPayload(decoding: payload))?.live ?? [] {
                        ends[member.number] = member.end
                    }
                case .adopt: open.parts += (try? AdoptPayload(decoding: payload))?.parts ?? []
                case .retire:
                    open.retired += (try? RetirePayload(decoding: payload))?.segments ?? []
                case .commit:
                    for part in open.parts { ends[part.segment] = part.end }
                    for number in open.retired { ends[number] = nil }
                    open = ([], [])
                default: break
                }
            }
        }
        return (newest.number, ends)
    }

    /// Whether a frame is whole and one of a segment: where a write was lost the medium may show what another file had
    /// there before.
    private static func isWhole(
        _ frame: FrameHeader, _ payload: UnsafeRawBufferPointer, of number: UInt32
    ) -> Bool {
        frame.segment == number && payload.count == Int(frame.payloadLength)
            && Checksum.crc32c(payload) == frame.payloadChecksum
    }

    /// Whether the creation of a segment is finished: it begins with its start frame.
    private static func hasStart(_ bytes: [UInt8], of number: UInt32) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var isFirst = true
            var found = false
            frames(bytes, from: SegmentHeader.size) { frame, payload in
                if isFirst { found = frame.kind == .start && isWhole(frame, payload, of: number) }
                isFirst = false
            }
            return found
        }
    }

    private static func holdsCommit(_ bytes: [UInt8], _ number: UInt32) -> Bool {
        bytes.withUnsafeBytes { bytes in
            guard let header = try? SegmentHeader(decoding: bytes) else { return false }
            var found = false
            frames(bytes, from: SegmentHeader.size) { frame, _ in
                if frame.kind == .commit, frame.segment == number,
                    frame.storeTag == header.store.tag
                {
                    found = true
                }
            }
            return found
        }
    }

    /// The headers of the frames that lie one behind the other.
    private static func frames(
        _ bytes: UnsafeRawBufferPointer, from start: Int,
        _ body: (FrameHeader, UnsafeRawBufferPointer) -> Void
    ) {
        var place = start
        while place + FrameHeader.size <= bytes.count,
            let frame = try? FrameHeader(
                decoding: UnsafeRawBufferPointer(rebasing: bytes[place...]))
        {
            let from = place + FrameHeader.size
            let end = min(bytes.count, from + Int(frame.payloadLength))
            body(frame, UnsafeRawBufferPointer(rebasing: bytes[from..<end]))
            place += frame.frameLength
        }
    }

    // MARK: Content

    mutating func willWrite(
        _ bytes: UnsafeRawBufferPointer, to file: Int, _ name: String, at offset: Int,
        _ state: DiskState
    ) {
        if name == SegmentName.lock {
            guard let mark = try? MarkRecord(decoding: bytes) else { return }
            if !isDurable(upTo: mark.lsn, state) {
                find("FS3: the mark file says \(mark.lsn), which is not durable")
            }
            willClaim(mark, state)
            return
        }
        guard let number = SegmentName.number(in: name) else { return }
        willChange(name, state)
        if offset > 0, !isCopying(state), Head(state.files[file].seen).map(\.isSide) ?? false,
            !isDurable(file, name, upTo: SegmentHeader.size, state)
        {
            find("F-656: a frame is written into \(name) before its header and name are durable")
        }
        if offset > 0, let end = claimedEnd(number, state), offset < end {
            let part = bytes.prefix(end - offset)
            let before = state.files[file].seen
            let isSame =
                offset + part.count <= before.count
                && before.withUnsafeBytes {
                    $0[offset..<offset + part.count].elementsEqual(part)
                }
            if !isSame { find("SG1: \(name) is written at \(offset), below its end \(end)") }
        }
        var last: UInt64 = 0
        var marks: [UInt64] = []
        Self.frames(bytes, from: offset == 0 ? SegmentHeader.size : 0) { frame, _ in
            if frame.mark > last { marks.append(frame.mark) }
            last = frame.mark
        }
        // What is copied was durable where it comes from.
        for mark in marks where !isCopying(state) && !isDurable(upTo: mark, state) {
            find("FS3: a frame in \(name) says \(mark), which is not durable")
        }
    }

    mutating func willResize(_ file: Int, _ name: String, to size: Int, _ state: DiskState) {
        guard let number = SegmentName.number(in: name) else { return }
        willChange(name, state)
        guard let end = claimedEnd(number, state), size < end else { return }
        find("SG1: \(name) is cut at \(size), below its end \(end)")
    }

    /// Up to where the mark file says that a segment is durable.
    private func claimedEnd(_ number: UInt32, _ state: DiskState) -> Int? {
        guard let claim else { return nil }
        let all = segments(state)
        guard let index = all.firstIndex(where: { $0.number == number }) else { return nil }
        let base = all[index].header.baseLSN
        var end = claim.lsn
        if index + 1 < all.count { end = min(end, all[index + 1].header.baseLSN) }
        return end > base ? Int(end - base) : nil
    }

    mutating func didSync(_ file: Int, _ name: String, _ state: DiskState) {
        let durable = state.files[file].durable
        if SegmentName.number(in: name) != nil {
            guard let header = Head(durable) else { return }
            let isCopying = isCopying(state)
            let ends = live(state).ends
            for (number, end) in ends where !isCopying {
                let side = SegmentName.name(of: number)
                guard let file = state.names[side], isDurable(file, side, upTo: Int(end), state)
                else {
                    find("FS1: \(name) relies on \(side) up to \(end), which is not durable")
                    continue
                }
            }
            if state.folder != .durable || state.durableNames[SegmentName.lock] == nil {
                find("FS1: \(name) is synced before the names of folder and lock are")
            }
            let hasSecondFrame = durable.withUnsafeBytes { bytes in
                var count = 0
                Self.frames(bytes, from: SegmentHeader.size) { _, _ in count += 1 }
                return count > 1
            }
            if hasSecondFrame, !isCopying, state.durableNames[name] != file {
                find("FS1: a second frame of \(name) is synced before its name is")
            }
            if header.predecessor != 0, ends[header.predecessor] != nil, !isCopying {
                let before = SegmentName.name(of: header.predecessor)
                guard let file = state.names[before],
                    isDurable(file, before, upTo: Int(header.predecessorEnd), state)
                else {
                    find("FS1: \(name) is synced before its predecessor is")
                    return
                }
            }
        } else if CheckpointName.commit(in: name) != nil {
            let header = durable.withUnsafeBytes {
                try? CheckpointHeader(decoding: $0, fileLength: UInt64($0.count))
            }
            // In a copy that is not finished nothing beyond its record's LSN counts, checkpoints included.
            if let header, !isCopying(state), !isDurable(upTo: header.lsn, state) {
                find("CK2: \(name) stands on a log that is not durable")
            }
        }
    }
}
