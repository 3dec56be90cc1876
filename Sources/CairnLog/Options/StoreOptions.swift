// Options for opening a store.

package import CairnFileSystem
package import CairnModel
public import CairnStore
package import FoundationEssentials

/// Options for opening a store.
public struct LogStoreOptions: Sendable {
    /// When a commit returns.
    public enum Durability: String, Sendable, CaseIterable {
        /// After it is on disk. The default.
        case full
        /// After it is written and can be read; it is on disk within 50 milliseconds. If the machine crashes, the commits
        /// of that time may be lost, but never a part of one.
        case grouped
        /// After it is written and can be read; it reaches the disk when a segment is full, when `synchronize` is called,
        /// and when the store is closed. If the machine crashes, the last such commits may be lost, but never a part of
        /// one.
        case relaxed
    }

    /// Whether the store is read-only. Other processes can still write to it.
    public var isReadOnly = false
    /// Whether a read-only store automatically sees another process's commits, within a fraction of a second after they are
    /// on disk. Otherwise it sees them when `LogStore.refresh()` is called.
    public var followsWriter = true
    /// Whether to create the store if it does not exist.
    public var createsIfMissing = true
    /// Whether the store keeps a history of its commits: who changed which objects, and when. The store remembers this
    /// option; nil: no change, and no history in a new store. A store with a history continues it if the option is nil, as
    /// `LogStore.historyTracking` reports. False ends it for everyone who has the store open: the history and its
    /// registered consumers are removed, whatever they have seen.
    ///
    /// After its first use, versions of this library that do not support history can read the store but not write to it.
    public var persistentHistoryTracking: Bool?
    /// How long past states of the store can be read (``LogStore/snapshot(at:)``): see ``PastStateRetention``. The store
    /// remembers this option; nil: no change, and no past states in a new store. Compacted segments stay in the folder for
    /// that long, and so do some older checkpoints. `.off` removes them.
    ///
    /// After its first use, versions of this library that do not support past states can read the store but not write to
    /// it.
    public var pastStates: PastStateRetention?
    /// Whether a store of another version of the model is migrated when it is opened, and how; nil: not
    /// specified. The migration sets it, as `shouldMigrateStoreAutomatically`.
    package var automaticMigration: AutomaticMigration?

    /// How to treat a store of another version of the model.
    package enum AutomaticMigration: Sendable {
        case off
        /// A closure migrates it. It receives the path, the new model and the options.
        case on(@Sendable (String, Schema, LogStoreOptions) throws(StoreError) -> Void)
    }

    /// Whether a store can be opened without migration with another version of its model, if both are stored alike: they
    /// may differ in hash modifiers, in the minimum and maximum counts of relationships, and in everything that is not
    /// stored. The store keeps its version: a program without this option still gets an error, or migrates the store to its
    /// own model.
    ///
    /// If the models are stored differently, opening the store throws `.incompatibleModel` or migrates it, depending on
    /// ``shouldMigrateStoreAutomatically``, but never to a version from which it was migrated.
    public var ignoresModelVersion = false
    /// Called with the progress of a migration, on the thread that opens the store, at the beginning of each stage and
    /// after every few thousand objects. Returning false cancels the migration: `StoreError.migrationCancelled` is thrown,
    /// and the store does not change.
    public var migrationProgress: (@Sendable (MigrationProgress) -> Bool)?
    /// Whether a migration fails with `.noSpace` before it begins if the disk has less space than it is likely to need. The
    /// estimate is based on the size of the store; a migration with a mapping also checks before its commit, based on what
    /// it has written. A mapping that deletes much needs less than estimated. A migration that runs out of space fails with
    /// the same error, and does not change the store.
    public var checksSpaceBeforeMigration = true
    /// When a commit returns.
    public var durability = Durability.full
    /// The number of bytes of files that snapshots can keep from being removed after compaction. Beyond that, the oldest
    /// snapshots expire: reading from them throws `.snapshotExpired`.
    public var snapshotLimit: UInt64 = 4 << 30
    /// How many seconds a commit waits for another process that writes, before it throws `.storeInUse`. Processes acquire
    /// the write lock for each commit, so a commit waits longer only if another process has much to write, or is stopped. 0
    /// = do not wait.
    public var timeout = 5.0
    /// Whether the store can be on a disk that other machines may share: NFS, SMB and the like, or a directory that a
    /// virtual machine shares with its host. Such a disk may not know about locks of other machines, so by default opening
    /// a store there fails with `.openFailed`.
    ///
    /// With this option the processes and containers of one machine share the write lock as usual. Two machines must not
    /// have the store open: a machine that finds the store open for writing on another one gets `.storeInUse`, which names
    /// that machine, when it opens the store or else at its next commit; it writes nothing after that. This protects
    /// against mistakes only: if two machines open it at the same moment, one may notice too late. A machine that stopped
    /// with the store open counts as having it open until the file `lock` is truncated to its first 64 bytes.
    ///
    /// Durability after a machine stops depends on how reliably the disk syncs. On other disks this option has no effect
    /// and no cost. Linux only: on other systems no disk is recognized as shared.
    public var allowsSharedDisk = false
    /// The number of bytes of memory for cached blocks: their stored bytes, unless ``mapsFiles`` leaves those to the
    /// system, and columns that scans decode, as long as there is space. A scan of more than that does not evict them.
    /// nil = a sixteenth of the memory that the process may use, at most 1 GiB. Each store has its own cache, which takes
    /// no more than the store needs: set a smaller size where many large stores are open.
    public var cacheBytes: Int?
    /// Whether blocks, and unique indexes until the store is changed, are read from mapped files. They are not copied then, so
    /// that the first read of a block in the system's cache takes a third of the time, and the system can share and
    /// reclaim their memory, which does not count toward ``cacheBytes``; the system's page tables take 2 MB for each
    /// gigabyte that was read. Only what is synced is mapped.
    ///
    /// What a disk cannot read is reported as an error, and what it reads is verified, when it is read first. If the
    /// system reclaims the memory after that, it reads it again on its own: if the disk fails then, or if another program
    /// truncates the file, the process ends with the signal SIGBUS, and bytes that another program overwrites are read
    /// without an error. false = blocks are copied into memory of the process.
    ///
    /// Linux 5.14 and newer, and not on disks that other machines may share; elsewhere blocks are copied.
    public var mapsFiles = true
    /// The maximum number of threads that one request uses to scan or to look up keys, including its own; nil = one for
    /// each core available to the process, at most four. Additional threads are used to filter 48 blocks or more, about
    /// fifty thousand rows, and to look up more than 1,500 keys; a request does not wait for threads that are busy with
    /// another one. 1 = only its own.
    public var scanThreads: Int?
    /// Called with the progress of opening the store, on the thread that opens it, at the beginning of each stage and after
    /// every few megabytes. Returning false cancels it: `StoreError.cancelled` is thrown, and the store does not change.
    public var recoveryProgress: (@Sendable (RecoveryProgress) -> Bool)?

    /// What is saved under the old model in the commit of a migration.
    package var migrationPrelude: MigrationPrelude.Maker?
    /// The models that a migration in stages passes through.
    package var migrationModels: [Schema] = []
    /// The disk.
    package var fileSystem: any FileSystem = POSIXFileSystem()
    /// Creates the schedulers of background work: one for work that must not wait, and one for long work.
    package var makeScheduler: @Sendable () -> any BackgroundScheduler = { ThreadScheduler() }
    /// The clock for the timestamps of commits.
    package var clock: any StoreClock = SystemClock()
    /// The identifier of a new store; nil = a random one.
    package var storeIdentifier: UUID?
    /// The catalog of a new store, which belongs to the schema that it is created with; nil: the one derived
    /// from that.
    package var newCatalog: EncodedCatalog?
    /// Whether a new store does not count as one until `Engine.finishStore()` declares it complete.
    package var isUnfinished = false
    /// The writing process, as recorded in the history; nil: this process.
    package var historyProcess: (number: UInt32, program: String)?
    /// What is known about a store of which only a part is available; nil: all of it is.
    package var partial: PartialKnowledge?
    /// The process that opens the store, if one simulates several: each has its own engines.
    package var process = 0
    /// Sizes and limits of the engine.
    package var sizes = StoreSizes()

    /// Creates options with default values.
    public init() {}

    /// Whether a store of one model is opened unchanged with another one, whichever model opens it first: the
    /// same is stored in the same order once that is sorted, and the version is the same unless it is
    /// ignored.
    ///
    /// Stores are migrated to their model even if only defaults, delete rules and renaming identifiers
    /// differ, so that these are known to users that open the store without a model, and to later versions.
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
