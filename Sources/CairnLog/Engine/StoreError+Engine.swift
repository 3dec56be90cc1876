// How failures of the layers below become errors that users see.

import CairnFileSystem
import CairnFormat
package import CairnStore
import SystemPackage

extension StoreError {
    /// A failed call of the operating system.
    init(_ error: FileSystemError) {
        self.init(
            error.code == .resourceBusy ? .storeInUse : .inputOutput, "\(error)",
            context: Context(path: "\(error.path)"))
    }

    /// Damage in a segment.
    package static func damaged(
        _ message: String, segment: UInt32? = nil, offset: UInt64? = nil, path: String? = nil
    ) -> StoreError {
        StoreError(
            .damaged, "the store is damaged: \(message)",
            context: Context(path: path, segment: segment, offset: offset))
    }
}
