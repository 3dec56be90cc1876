package import CairnStore

extension Engine {
    /// An engine of a log that was opened, with all that an open store does beside its commits.
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
