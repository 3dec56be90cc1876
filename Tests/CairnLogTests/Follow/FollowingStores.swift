// A writer and readers that follow it, on one disk.

import CairnFileSystem
import CairnStore
import CairnTestSupport
import SystemPackage

@testable import CairnLog

enum FollowingStores {
    /// Options of a reader that looks for new commits when it is told to.
    static func reading(_ disk: any FileSystem, follows: Bool = false) -> LogStoreOptions {
        var options = LogStoreOptions()
        options.fileSystem = disk
        options.isReadOnly = true
        options.followsWriter = follows
        options.cacheBytes = 1 << 20
        return options
    }

    /// The content of a snapshot.
    static func text(_ snapshot: LogSnapshot, of store: LogStore) throws -> String {
        var bytes: [UInt8] = []
        let pinned = snapshot.pinned!
        var export = CanonicalExport(reader: store.engine.reader, state: pinned.state)
        try export.write { bytes.append(contentsOf: $0) }
        withExtendedLifetime(snapshot) {}
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Ends a writer as a crash of its process would, on a disk that goes on.
    static func abandon(_ store: LogStore) {
        store.engine.queue.poison(StoreError(.inputOutput, "the process has ended"))
        try? store.close()
    }
}
