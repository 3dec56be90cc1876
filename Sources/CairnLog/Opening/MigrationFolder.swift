// The folder in the store's folder in which a mapping creates the store's future contents, as a separate store.
//
// It is ignored when the store is opened: an interrupted migration has left it, and the next writer removes
// it.
//
// Threads: the writer's.

package import CairnFileSystem
import CairnFormat
import CairnStore
package import SystemPackage

/// The folder of a migration, in the store's.
package struct MigrationFolder {
    /// The folder's name.
    static let name = "migration"

    package let path: FilePath
    private let fileSystem: any FileSystem

    package init(of store: FilePath, _ fileSystem: any FileSystem) {
        path = store.appending(Self.name)
        self.fileSystem = fileSystem
    }

    /// Removes what an interrupted migration has left, if anything. No other process has it open, as the
    /// caller holds the store's writer lock. What cannot be removed stays.
    package func clear() {
        guard (try? fileSystem.exists(path)) == true, let names = try? fileSystem.list(path) else {
            return
        }
        for name in names where StoreFiles.isOurs(name) {
            try? fileSystem.unlink(path.appending(name))
        }
        try? fileSystem.removeDirectory(path)
    }
}
