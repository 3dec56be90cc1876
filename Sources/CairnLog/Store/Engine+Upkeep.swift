package import CairnStore

extension Engine {
    /// Creates an engine for an opened log, with everything that an open store does in addition to its
    /// commits.
    package convenience init(_ opened: OpenedLog, options: LogStoreOptions) throws(StoreError) {
        try self.init(
            opened, options: options,
            upkeeps: [
                StagingUpkeep(), PastStates(), RetirementUpkeep(),
                CompactionUpkeep(
                    logEnd: opened.end.lsn, floor: options.sizes.compactionFloor),
                FollowingUpkeep(opened.files.folder, options),
            ])
    }
}
