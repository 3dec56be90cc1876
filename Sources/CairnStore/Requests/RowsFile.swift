// Rows in an unnamed file, which disappears with its owner, however that ends.
//
// Threads: one at a time.

import FoundationEssentials

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A file in the temporary folder.
final class RowsFile {
    private let descriptor: Int32
    private var end = 0

    init() throws(StoreError) {
        let folder = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
        // The system puts a name that nobody has in the place of the last six letters.
        let template = "\(folder)/cairn-rows-" + String(repeating: "X", count: 6)
        var path = Array(template.utf8CString)
        descriptor = mkstemp(&path)
        guard descriptor >= 0 else { throw Self.failure("cannot be made in \(folder)") }
        unlink(path)
    }

    deinit { close(descriptor) }

    /// Appends bytes, and says where.
    func append(_ bytes: [UInt8]) throws(StoreError) -> Range<Int> {
        let start = end
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { bytes in
                pwrite(
                    descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done,
                    off_t(start + done))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.failure("cannot be written") }
            done += count
        }
        end = start + bytes.count
        return start..<end
    }

    /// Reads bytes that were appended.
    func read(_ place: Range<Int>) throws(StoreError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: place.count)
        var done = 0
        while done < place.count {
            let count = bytes.withUnsafeMutableBytes { bytes in
                pread(
                    descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done,
                    off_t(place.lowerBound + done))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.failure("cannot be read") }
            done += count
        }
        return bytes
    }

    private static func failure(_ what: String) -> StoreError {
        let reason = errno
        return StoreError(
            reason == ENOSPC ? .noSpace : .inputOutput,
            "the file that keeps the rows of a batch \(what): \(String(cString: strerror(reason)))")
    }
}
