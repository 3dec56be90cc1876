// Errors of the operating system, with enough detail to act on.

package import SystemPackage

/// One failed call: the operation, the file, and the system's reason.
package struct FileSystemError: Error, Sendable, Hashable {
    package let operation: Operation
    package let path: FilePath
    /// The system's error number.
    package let code: Errno
    /// The offset in the file, for calls that have one.
    package let offset: UInt64?

    package init(_ operation: Operation, _ path: FilePath, _ code: Errno, offset: UInt64? = nil) {
        self.operation = operation
        self.path = path
        self.code = code
        self.offset = offset
    }

    /// The calls of the file system, for errors and for call counts in tests.
    package enum Operation: String, Sendable, Hashable, CaseIterable {
        case open = "open"
        case syncDirectory = "sync folder"
        case list = "list folder"
        case unlink = "delete"
        case makeDirectory = "make folder"
        case removeDirectory = "remove folder"
        case identify = "look up"
        case read = "read"
        case write = "write"
        case synchronize = "sync"
        case truncate = "change the size of"
        case size = "get the size of"
        case lock = "lock"
        case unlock = "unlock"
        case lockHolder = "find out who locks"
        case close = "close"
    }
}

extension FileSystemError: CustomStringConvertible {
    /// "cannot write /shop.cairn/1.segment at byte 4096: No space left on device (28); free some space"
    package var description: String {
        let place = offset.map { " at byte \($0)" } ?? ""
        let advice = advice.map { "; \($0)" } ?? ""
        return "cannot \(operation.rawValue) \(path)\(place): \(code) (\(code.rawValue))\(advice)"
    }

    /// What a user can do about the error, where the error number alone determines it.
    private var advice: String? {
        switch code {
        case .noSpace: "free some space on that disk and try again"
        case .diskQuotaExceeded: "the user's disk quota is used up: free some space"
        case .permissionDenied, .notPermitted: "check who owns it and its permissions"
        case .readOnlyFileSystem: "the disk is mounted read-only"
        case .tooManyOpenFiles, .tooManyOpenFilesInSystem:
            "raise the limit of open files (ulimit -n)"
        case .ioError: "the disk or its connection failed; look at the system's log"
        case .noLocks, .notSupported:
            operation == .lock ? "that disk does not support file locks" : nil
        default: nil
        }
    }
}
