// Converts errors of the layers below to errors for users.

package import CairnFileSystem
import CairnFormat
package import CairnStore
import SystemPackage

extension StoreError {
    /// The error of a failed operating system call.
    package init(_ error: FileSystemError) {
        let code: Code =
            switch error.code {
            case .resourceBusy: .storeInUse
            case .noSpace, .diskQuotaExceeded: .noSpace
            default: .inputOutput
            }
        self.init(code, "\(error)", context: Context(path: "\(error.path)"))
    }

    /// The error for damage in a segment.
    package static func damaged(
        _ message: String, segment: UInt32? = nil, offset: UInt64? = nil, path: String? = nil
    ) -> StoreError {
        StoreError(
            .damaged, "the store is damaged: \(message)",
            context: Context(path: path, segment: segment, offset: offset))
    }

    /// A folder that contains no store, but files of one.                                               F-220
    static func unfinished(_ folder: FilePath) -> StoreError {
        StoreError(
            .openFailed,
            "the folder contains an unfinished copy or salvaged store, or a store that was being removed (F-220): remove the folder, and copy or salvage again",
            context: .init(path: "\(folder)"))
    }

    /// The error for content that another version has written.
    init(
        ofOtherVersion error: FormatError, at path: String, segment: UInt32, offset: UInt64? = nil
    ) {
        self.init(
            .openFailed, "\(error.what): \(error.found ?? 0) (\(error.rule))",
            context: .init(path: path, segment: segment, offset: offset))
    }

    /// The error for a whole frame with invalid content, or content that this version cannot read. (F-110)
    init(inFrame error: any Error, _ segment: Segment, _ offset: UInt64) {
        if let error = error as? StoreError {
            self = error
            return
        }
        guard let error = error as? FormatError else {
            preconditionFailure("a frame only throws format and store errors: \(error)")
        }
        if error.isOfOtherVersion {
            self.init(
                ofOtherVersion: error, at: "\(segment.file.path)", segment: segment.number,
                offset: offset)
        } else {
            self = .damaged(
                "\(error.what) (\(error.rule))", segment: segment.number, offset: offset)
        }
    }
}

extension FormatError {
    /// Whether the data that was read is whole, but from another version.
    var isOfOtherVersion: Bool { code == .unsupportedVersion || code == .unsupportedFeature }
}
