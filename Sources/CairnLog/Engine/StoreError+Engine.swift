// How failures of the layers below become errors that users see.

import CairnFileSystem
import CairnFormat
package import CairnStore
import SystemPackage

extension StoreError {
    /// A failed call of the operating system.
    init(_ error: FileSystemError) {
        let code: Code =
            switch error.code {
            case .resourceBusy: .storeInUse
            case .noSpace, .diskQuotaExceeded: .noSpace
            default: .inputOutput
            }
        self.init(code, "\(error)", context: Context(path: "\(error.path)"))
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
