// Whether a checkpoint could be used for opening, determined from its first and last bytes.         Format 85
//
// Its parts are not read: damage inside is only detected when the store is opened with it.

import CairnFileSystem
import CairnFormat
import CairnStore
import SystemPackage

struct CheckpointProbe {
    let commit: UInt64
    let bytes: UInt64
    /// The position at which the log continues after it; nil if it cannot be used.
    let end: LogEnd?
    /// Whether only past states can be created from it: the segment of its commit is no longer in the store.
    let isPast: Bool
    /// The place of its commit's frame.
    let commitPlace: Place
    /// Why it cannot be used.
    let problem: String?

    /// Returns the checkpoints of a folder, newest first.
    static func all(in survey: FolderSurvey, _ fileSystem: any FileSystem) throws(StoreError)
        -> [CheckpointProbe]
    {
        do throws(FileSystemError) {
            return try fileSystem.list(survey.folder).compactMap { CheckpointName.commit(in: $0) }
                .sorted(by: >).map { CheckpointProbe($0, survey, fileSystem) }
        } catch {
            throw StoreError(error)
        }
    }

    private init(_ commit: UInt64, _ survey: FolderSurvey, _ fileSystem: any FileSystem) {
        self.commit = commit
        var bytes: UInt64 = 0
        do {
            let file = TolerantFile(
                try fileSystem.open(
                    survey.folder.appending(CheckpointName.name(of: commit)), .read))
            bytes = try file.size()
            let (end, place) = try Self.end(of: file, length: bytes, commit, survey)
            self.end = end
            commitPlace = place
            isPast = survey.segments.contains { $0.number == end.segment && $0.role == .held }
            problem = nil
        } catch {
            end = nil
            isPast = false
            commitPlace = .none
            problem =
                switch error {
                case let error as FormatError: "\(error.what) (\(error.rule))"
                case let error as FileSystemError: "\(error)"
                default: "it belongs to another log"
                }
        }
        self.bytes = bytes
    }

    private static func end(
        of file: TolerantFile, length: UInt64, _ commit: UInt64, _ survey: FolderSurvey
    ) throws -> (LogEnd, Place) {
        let head = RawBytes(count: CheckpointHeader.size)
        head.trim(to: try file.read(into: head.mutable, at: 0))
        let header = try CheckpointHeader(decoding: head.bytes, fileLength: length)
        let raw = try header.contents.read(from: file)
        let contents = try CheckpointContents(decoding: raw.bytes, fileLength: length)
        guard header.commit == commit, let store = survey.storeID, header.store == store,
            let segment = survey.segments.first(where: {
                $0.number == header.segment
                    && ($0.role == .main || $0.role == .held && $0.header?.kind == .main)
            }), header.endOffset <= segment.end
        else { throw FormatError(.mismatch, "F-857", "it belongs to another log") }
        let (frame, _) = try segment.segment(of: store).frame(
            at: header.commitOffset, storeTag: store.tag)
        guard frame.kind == .commit, frame.commit == commit, frame.chain == header.chain,
            frame.lsn + UInt64(frame.frameLength) == header.lsn,
            segment.baseLSN + header.endOffset == header.lsn
        else { throw FormatError(.mismatch, "F-857", "it belongs to another log") }
        let present = Set(survey.segments.filter { $0.header != nil }.map(\.number))
        guard contents.live.allSatisfy({ present.contains($0.number) }),
            let place = Place(exactSegment: segment.number, byteOffset: header.commitOffset)
        else {
            throw FormatError(.mismatch, "F-857", "a segment that it needs is missing")
        }
        let end = LogEnd(
            segment: segment.number, offset: header.endOffset, lsn: header.lsn,
            chain: header.chain)
        return (end, place)
    }
}
