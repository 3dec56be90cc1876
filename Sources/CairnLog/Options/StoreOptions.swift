// What can be chosen when a store is opened.

package import CairnFileSystem
package import CairnModel
public import CairnStore
package import FoundationEssentials

/// Choices for opening a store.
public struct LogStoreOptions: Sendable {
    /// When a commit returns.
    public enum Durability: String, Sendable, CaseIterable {
        /// When it is on the disk. The default.
        case full
        /// When it is written and can be read; it is on the disk within 50 milliseconds. A crash of the machine
        /// may lose the commits of that time, never a part of one.
        case grouped
        /// When it is written and can be read; it reaches the disk when a segment is full, when
        /// `synchronize` is called, and at close. A crash of the machine may lose the last such commits,
        /// never a part of one.
        case relaxed
    }

    /// Whether nothing may be written. Other processes may write meanwhile.
    public var isReadOnly = false
    /// Whether a store that is opened for reading only sees by itself what another process commits later, within a
    /// fraction of a second of its being on the disk. Without, it sees that when `LogStore.refresh()` is called.
    public var followsWriter = true
    /// Whether a store is made where there is none.
    public var createsIfMissing = true
    /// Whether the store keeps a history of its commits: who changed which objects, and when. It is remembered in the store;
    /// nil: as before, and none in a new one. A store that keeps one goes on with it if nothing is said, as
    /// `LogStore.historyTracking` tells. False ends it for everybody who has the store open: what it had goes, and so do its
    /// registered consumers, whatever they have seen.
    ///
    /// From the first time on, versions of this library that know no history can read the store and cannot write to it.
    public var persistentHistoryTracking: Bool?
    /// How far back the store can be read as it was (``LogStore/snapshot(at:)``): see ``PastStateRetention``. It is remembered
    /// in the store; nil: as before, and no past states in a new one. Segments that compaction has moved what lives out of
    /// stay in the folder for as long, and so do some older checkpoints. `.off` lets all of that go.
    ///
    /// From the first time on, versions of this library that know no past states can read the store and cannot write to it.
    public var pastStates: PastStateRetention?
    /// Whether a store of another version of the model is migrated when it is opened, and how; nil: nobody has said so. The
    /// migration sets it, as `shouldMigrateStoreAutomatically`.
    package var automaticMigration: AutomaticMigration?

    /// What becomes of a store of another version of the model.
    package enum AutomaticMigration: Sendable {
        case off
        /// It is migrated by a closure, which is told where it is and which model it is to have.
        case on(@Sendable (String, Schema, LogStoreOptions) throws(StoreError) -> Void)
    }

    /// Whether a store is opened as it is with a model of another version, if both store the same: versions may differ in hash
    /// modifiers, in how many members a relationship may have, and in what is not stored at all. The store keeps its version: a
    /// program that does not ignore it is refused as before, or migrates it to its own model.
    ///
    /// A model that stores something else is not ignored: opening throws `.incompatibleModel`, or the store is migrated, as
    /// ``shouldMigrateStoreAutomatically`` says, but for a version that it has left.
    public var ignoresModelVersion = false
    /// Told how far a migration is, in the thread that opens the store, when a stage begins and after some thousand objects. The
    /// migration is cancelled when it returns false: `StoreError.migrationCancelled` is thrown, and the store is as it was.
    public var migrationProgress: (@Sendable (MigrationProgress) -> Bool)?
    /// Whether a migration is refused with `.noSpace`, before it begins, if the disk has less room than it is likely to need: an
    /// estimate by what the store has; one by a mapping also before its commit, by what it has made. A mapping that drops much needs
    /// less than that. One that runs out of room ends with that error too, and leaves the store as it was.
    public var checksSpaceBeforeMigration = true
    /// When a commit returns.
    public var durability = Durability.full
    /// Bytes of files that snapshots may keep from being removed after compaction. Above that the oldest snapshots are
    /// given up: reading from them throws `.snapshotExpired`.
    public var snapshotLimit: UInt64 = 4 << 30
    /// Seconds that a commit waits for another process that writes, before it throws `.storeInUse`. Processes write in turns,
    /// commit by commit, so it is waited for longer only while another one has much to write, or is stopped. 0 = it is not
    /// waited for.
    public var timeout = 5.0
    /// Whether the store may be on a disk that other machines may have too: NFS, SMB and the like, or what a virtual machine
    /// shares with the one that it runs on. Such a disk may know nothing of what another machine has locked, so opening a store
    /// there is refused with `.openFailed` unless somebody has said so here.
    ///
    /// With it the processes and containers of one machine write in turns as everywhere. Two machines must not have the store
    /// open: who finds that another one has it open to write is refused with `.storeInUse`, which names that machine, when the
    /// store is opened, and else at the next commit; nothing more is written then. That keeps from a mistake, and no more: of
    /// two machines that open it at the same moment one may find out too late. A machine that was stopped with the store open
    /// is taken for one that has it open until somebody cuts the file `lock` off behind its first 64 bytes.
    ///
    /// What commits promise of a machine that is stopped is as good as what the disk says of a sync. On any other disk this
    /// means nothing, and costs nothing. Linux only: elsewhere no disk is known to be one of these.
    public var allowsSharedDisk = false
    /// Bytes that blocks may take in memory: as they are stored, for whoever reads single objects, and the columns of them that
    /// scans have decoded, as long as there is room. A scan of more than that leaves what is there. nil = a sixteenth of the
    /// memory, at most 256 MiB.
    public var cacheBytes: Int?
    /// Threads that one fetch may use to scan, with the one that fetches; nil = one for each core that the process may use,
    /// at most four. Others are used where a condition is asked of 48 blocks or more, which are some fifty thousand rows, and
    /// are not waited for if they are busy with another fetch. 1 = none.
    public var scanThreads: Int?
    /// Told how far opening is, in the thread that opens, when a stage begins and after every few megabytes. Opening is
    /// cancelled when it returns false: `StoreError.cancelled` is thrown, and the store holds what it held.
    public var recoveryProgress: (@Sendable (RecoveryProgress) -> Bool)?

    /// What is saved under the old model in the commit of a migration.
    package var migrationPrelude: MigrationPrelude.Maker?
    /// The models that a migration in stages passes through.
    package var migrationModels: [Schema] = []
    /// The disk.
    package var fileSystem: any FileSystem = POSIXFileSystem()
    /// What runs beside the committers: one for what must not wait, and one for what takes long.
    package var makeScheduler: @Sendable () -> any BackgroundScheduler = { ThreadScheduler() }
    /// The time that commits are stamped with.
    package var clock: any StoreClock = SystemClock()
    /// The identity of a new store; nil = a random one.
    package var storeIdentifier: UUID?
    /// The numbers of a new store, which are of the schema that it is made with; nil: those that follow from that.
    package var newCatalog: Catalog?
    /// Whether a store that is made counts as none until `Engine.finishStore()` says that it is whole.
    package var isUnfinished = false
    /// Who writes, as the history says it; nil: this process.
    package var historyProcess: (number: UInt32, program: String)?
    /// What is known of a store of which only a part is to be here; nil: all of it is.
    package var partial: PartialKnowledge?
    /// Which process opens the store, where one plays several: each has engines of its own.
    package var process = 0
    /// The sizes of things.
    package var sizes = StoreSizes()

    /// The defaults.
    public init() {}

    /// Whether a store of one model is opened as it is with another one, whoever opens it first: the same is stored in the same
    /// order once that is sorted, and the version is the same unless it is ignored.
    ///
    /// Stores are migrated to their model where defaults, delete rules and renaming identifiers differ, too, so that these are
    /// known to those who open the store without a model, and to versions to come.
    package func allow(_ wanted: Schema, for other: Schema) -> Bool {
        if wanted === other || wanted.model == other.model { return true }
        guard let ordered = wanted.ordered(like: other), ordered.hasSameForm(as: other) else {
            return false
        }
        if ignoresModelVersion { return true }
        guard wanted.hasSameVersion(as: other) else { return false }
        var leads = false
        if case .on = automaticMigration { leads = !isReadOnly }
        return !leads || ordered.hasSameStorage(as: other)
    }
}
