// The frames of a store in file order: for users who need to look inside.
//
// It takes no lock and opens no engine, so it works on a store that will not open. Where the chain breaks it
// reports that, and continues to search for headers.
// Threads: one listing in one thread.

import CairnFileSystem
import CairnFormat
import CairnStore
import SystemPackage

/// A frame in a listing.
public struct FrameSummary: Sendable {
    /// The segment's number.
    public let segment: UInt32
    /// The byte offset in the segment.
    public let offset: UInt64
    /// The kind's name, or its number if it is unknown.
    public let kind: String
    /// The size of the payload in bytes.
    public let length: Int
    /// The commit to which it belongs.
    public let commit: UInt64
    /// The problem with it; nil if it is valid and in the right place.
    public let problem: String?
    /// A short description of its payload.
    public let note: String
}

/// Reads the frames of a store's folder.
public enum FrameListing {
    /// Passes each frame to the body, oldest first.
    ///
    /// - Throws: `StoreError` if the folder contains no segments or cannot be read, and what the body throws.
    public static func forEach(
        at path: String, options: LogStoreOptions = LogStoreOptions(),
        _ body: (FrameSummary) throws -> Void
    ) throws {
        let folder = FilePath(path)
        let numbers: [UInt32]
        do {
            numbers = try options.fileSystem.list(folder)
                .compactMap { SegmentName.number(in: $0) }.sorted()
        } catch {
            throw StoreError(error)
        }
        guard !numbers.isEmpty else {
            throw StoreError(.openFailed, "there is no store here", context: .init(path: path))
        }
        for number in numbers {
            let file: any File
            do {
                file = try options.fileSystem.open(
                    folder.appending(SegmentName.name(of: number)), .read)
            } catch {
                throw StoreError(error)
            }
            try list(file, number, body)
        }
    }

    private static func list(
        _ file: any File, _ number: UInt32, _ body: (FrameSummary) throws -> Void
    ) throws {
        let head = RawBytes(count: SegmentHeader.size)
        head.trim(to: try file.read(into: head.mutable, at: 0))
        let header: SegmentHeader
        do {
            header = try SegmentHeader(decoding: head.bytes)
        } catch {
            try body(
                FrameSummary(
                    segment: number, offset: 0, kind: "header", length: SegmentHeader.size,
                    commit: 0,
                    problem: "\(error.what) (\(error.rule))", note: ""))
            try search(file, number, from: UInt64(SegmentHeader.size), body)
            return
        }
        let segment = Segment(header: header, file: file)
        var scanner = try FrameScanner(
            segment, chain: SegmentHeader.chain(ofEncoded: head.bytes), storeTag: header.store.tag,
            end: nil)
        while let (frame, payload) = try scanner.next() {
            try body(
                FrameSummary(
                    segment: number, offset: frame.lsn - header.baseLSN, kind: name(frame),
                    length: Int(frame.payloadLength), commit: frame.commit, problem: nil,
                    note: note(frame, payload)))
        }
        guard let failure = scanner.failure else { return }
        try body(
            FrameSummary(
                segment: number, offset: scanner.position, kind: "?", length: 0, commit: 0,
                problem: "\(failure.what) (\(failure.rule))", note: ""))
        try search(file, number, from: scanner.position + 8, body)
    }

    /// Passes headers after a break: their contents are shown, their payloads are not trusted.
    private static func search(
        _ file: any File, _ number: UInt32, from start: UInt64,
        _ body: (FrameSummary) throws -> Void
    ) throws {
        var search = HeaderSearch(file, from: start)
        while let (frame, offset) = try search.next() {
            try body(
                FrameSummary(
                    segment: number, offset: offset, kind: name(frame),
                    length: Int(frame.payloadLength), commit: frame.commit,
                    problem: "after a break in the chain", note: ""))
        }
    }

    private static func name(_ frame: FrameHeader) -> String {
        frame.kind.map { "\($0)" } ?? "kind \(frame.rawKind)"
    }

    private static func note(_ frame: FrameHeader, _ payload: UnsafeRawBufferPointer) -> String {
        switch frame.kind {
        case .block:
            guard let head = try? BlockHead(decoding: payload) else { return "unreadable" }
            return "entity \(head.entity), \(head.rows) rows, \(head.columns.count - 2) columns"
        case .patch:
            guard let patch = try? PatchHead(decoding: payload) else { return "unreadable" }
            let columns = patch.own.columns.count - 1
            return
                "entity \(patch.own.entity), \(patch.own.rows) rows, \(columns) column\(columns == 1 ? "" : "s") of the block in segment \(patch.base.segment) at \(patch.base.byteOffset)"
        case .deaths:
            guard let deaths = try? DeathsPayload(decoding: payload) else { return "unreadable" }
            return
                "\(deaths.entries.reduce(0) { $0 + $1.deadCount }) rows in \(deaths.entries.count) blocks"
        case .commit:
            guard let commit = try? CommitPayload(decoding: payload) else { return "unreadable" }
            let author = commit.author.isEmpty ? "" : ", by \(commit.author)"
            return "+\(commit.inserted) ~\(commit.updated) -\(commit.deleted)\(author)"
        case .value:
            guard let value = try? ValuePayload(decoding: payload) else { return "unreadable" }
            return "object \(value.number), piece \(value.sequence) of \(value.totalLength) bytes"
        case .changes:
            guard let changes = try? ChangesPayload(decoding: payload) else { return "unreadable" }
            func count(_ operation: ChangesPayload.Operation) -> Int {
                changes.entries.reduce(0) { $0 + ($1.operation == operation ? $1.count : 0) }
            }
            let author = changes.head.author.isEmpty ? "" : " by \(changes.head.author)"
            return "+\(count(.insert)) ~\(count(.update)) -\(count(.delete))\(author)"
        case .redirects:
            guard let redirects = try? RedirectsPayload(decoding: payload) else {
                return "unreadable"
            }
            return "\(redirects.count) objects redirected to others"
        case .start:
            guard let start = try? StartPayload(decoding: payload) else { return "unreadable" }
            return "\(start.live.count) segments before"
        default: return ""
        }
    }
}
