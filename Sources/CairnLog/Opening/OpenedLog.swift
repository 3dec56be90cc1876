// The result of reading the log: enough to build a state.

import CairnFileSystem
package import CairnFormat
import CairnModel
import CairnStore

/// A log that was read up to the end of its last complete commit.
package struct OpenedLog {
    let files: StoreFiles
    package let storeID: StoreID
    package var segments: LiveSet
    /// The largest segment number that was issued.
    var lastSegment: UInt32
    /// Files in the folder that are neither part of it nor needed by the base.
    var needless: Set<UInt32> = []
    /// Files in the folder that past states need.                                               F-793
    var held: [HeldSegment] = []
    /// Every segment that the base or the rest may be read from.
    var readable: [Segment]
    package var catalog: Catalog
    /// The end of the last commit or close frame.
    package var end: LogEnd
    /// The LSN below which the log is known to be durable.
    package var durable: UInt64
    package var commit: UInt64
    /// Where the last commit's frame begins, and where it ends.
    var commitOffset: UInt64
    var commitEnd: LogEnd
    /// The state that the rest is based on, if a checkpoint contained one.
    var base: EngineState?
    /// The part of the base that is still in the checkpoint.
    var image: CheckpointImage?
    /// The seed of the hashes in its indexes.
    var hashSeed: UInt64?
    /// The bytes of the checkpoint.
    var checkpointBytes: UInt64 = 0
    /// The bytes that had to be read from side segments.
    var sideBytes: UInt64 = 0
    /// The pool of the base's pages.
    var pool: PagePool
    /// The next number of every tree as of the last commit, by tree id.
    var counters: [UInt32: UInt32]
    /// The same as of the end: commits that failed since then have used up numbers.
    var nextNumbers: [UInt32: UInt32] = [:]
    /// Every block after the base, in the order of the log.
    var blocks: [LoggedBlock]
    /// Every death after the base, in the order of the log.
    var deaths: [LoggedDeath]
    /// Every place of changes for the history after the base, in the order of the log.
    var history: [LoggedChanges] = []
    /// Every redirect after the base that is in force.
    var redirects: [RedirectTable.Key: RedirectTable.Entry] = [:]
    /// Whether retired segments are gone, and with them deaths of rows in other retired segments.
    var lacksRetired = false
    /// The mark record before the log was read; nil if it was torn, or is unknown.
    var mark: MarkRecord?
    /// The file of the newest segment, if it was opened for writing.
    var writable: (any File)?
    var report: RecoveryReport
    /// Whether the caller has opened it for writing, and takes it over once its state is built.
    var isToBeTakenOver = false
    /// Whether a process that still has the store open has recorded that the log ends here.
    var wasHandedOver = false
    /// Whether the caller may append.
    var hasLease = true
}

extension OpenedLog {
    /// The result of reading, once the end is known.
    ///
    /// - Throws: `StoreError` with `.damaged` if another process has removed one of its segments since that
    ///   was found.
    init(
        _ files: StoreFiles, _ content: LogContent, _ found: FoundLog, _ restored: RestoredState?,
        durable: UInt64, pool: PagePool
    ) throws(StoreError) {
        guard let catalog = content.catalog else {
            preconditionFailure("a log with a commit has a schema")
        }
        let live = content.live
        let base = restored?.state
        let last = content.end.segment
        let held = (catalog.metadata?.asOf?.held ?? []).compactMap { held in
            found.whole[held.segment].map { HeldSegment(held, $0.segment) }
        }
        let kept = Set(held.map(\.number))
        let needless = found.numbers.filter {
            ($0 > last || found.whole[$0] != nil || found.unfinished.contains($0))
                && live[$0] == nil && base?.segments[$0] == nil && !kept.contains($0)
        }
        self.init(
            files: files, storeID: content.storeID, segments: live,
            lastSegment: max(content.lastSegment, found.numbers.last ?? 0),
            needless: Set(needless), held: held, readable: (base?.segments.all ?? []) + live.all,
            catalog: catalog, end: content.end, durable: min(durable, content.end.lsn),
            commit: content.commit, commitOffset: content.commitOffset,
            commitEnd: content.commitEnd, base: base, image: restored?.image,
            hashSeed: restored?.hashSeed, checkpointBytes: restored?.bytes ?? 0,
            sideBytes: content.sideBytes, pool: pool,
            counters: content.counters, nextNumbers: content.nextNumbers, blocks: content.blocks,
            deaths: content.deaths,
            history: content.history, redirects: content.redirects,
            lacksRetired: !content.members.gone.isEmpty, report: content.report)
        // Users of the state can read all of it, whatever is removed.
        for segment in readable { try segment.wake() }
    }
}

extension OpenedLog {
    /// Whether the schema has changed in the newest segment: the next commit starts another one then, whose
    /// start frame names the schema in force. Otherwise the schema that this one names could be retired.
    ///                                                                                                  F-723
    var hasChangedSchema: Bool {
        catalog.version > 1 && catalog.place.segment == segments.current.number
    }
}

/// A segment that left the store, whose file past states need.
struct HeldSegment: Sendable {
    let number: UInt32
    /// The last commit before it, and the one that retired it.
    let begun: UInt64
    let retired: UInt64
    /// The bytes of its file.
    let bytes: UInt64

    init(_ held: AsOfSettings.Held, _ segment: Segment) {
        number = held.segment
        begun = segment.header.commit
        retired = held.commit
        let resting = segment.file as? RestingFile
        bytes = resting?.restingSize ?? (try? segment.file.size()) ?? 0
    }
}

/// A log without a commit: the creation of its store did not finish.
package struct UnfinishedLog {
    let storeID: StoreID
    let segments: [Segment]
    /// The end of the start frame.
    let end: LogEnd
}

/// A block as its head describes it.
struct LoggedBlock {
    let place: Place
    /// The id of its entity, which may be gone by the end of the log.
    let entity: UInt32
    let rows: Int
    /// The bytes of its frame.
    let length: Int
    /// Its bytes before LZ4.
    let rawLength: Int
    /// Whether some of its values have their own frames.
    let hasReferences: Bool
    let schemaVersion: UInt32
    let commit: UInt64
    /// For a patch: the block that it patches, and the bytes that it borrows from there.
    var patched = Place.none
    var borrowedBytes = 0
    /// For a patch: the properties whose columns it contains.
    var patchedProperties: [UInt32] = []
    /// Its stored form, if it is small and was at hand.
    var kept: KeptRows?
}

/// The stored form of a block: behind a reference, since a log that is read from its beginning may have very
/// many blocks, and keeps none of them.
final class KeptRows: Sendable {
    let stored: StoredPayload

    init(_ stored: StoredPayload) { self.stored = stored }
}
