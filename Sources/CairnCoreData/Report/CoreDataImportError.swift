// Why a store of Core Data cannot be brought over.

import FoundationEssentials
import SystemPackage

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// An error of an import, with the place in the store that is read.
package struct CoreDataImportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of error it is.
    package enum Code: String, Sendable, Hashable {
        /// The file cannot be read.
        case unreadable
        /// The file is no store of Core Data.
        case notAStore
        /// The file is damaged.
        case damaged
        /// There is no model, and none was given.
        case noModel
        /// The model is not the one that the store was written with.
        case wrongModel
        /// There is something where the new store is to be.
        case destinationExists
        /// Objects have values that the model wants to be unique.
        case notUnique
        /// Somebody writes to the store while it is copied.
        case inUse
        /// The new store cannot be put where it is to be.
        case unwritable
    }

    package let code: Code
    /// What is wrong, as a sentence.
    package let message: String
    /// The file, and the table or column in it.
    package let place: String

    init(_ code: Code, _ message: String, at place: String) {
        self.code = code
        self.message = message
        self.place = place
    }

    /// Place and sentence on one line.
    package var description: String { "\(place): \(message)" }
}

extension Error {
    /// The reason in words: of an error of a file what the system says, without what Foundation has around it.
    var reason: String {
        guard let error = self as? CocoaError else { return "\(self)" }
        if let code = (error.underlying as? POSIXError)?.code {
            return Errno(rawValue: code.rawValue).description
        }
        switch error.code {
        case .fileNoSuchFile, .fileReadNoSuchFile: return "there is no such file or folder"
        case .fileReadNoPermission, .fileWriteNoPermission: return "permission was denied"
        case .fileWriteFileExists: return "the destination already exists"
        case .fileWriteOutOfSpace: return "the disk is full"
        case .fileWriteVolumeReadOnly: return "the disk is read-only"
        default: return "error \(error.code.rawValue) of the file system"
        }
    }
}
