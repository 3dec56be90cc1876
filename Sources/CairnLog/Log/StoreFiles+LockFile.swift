// The checks that reject a file as a lock file.                                            Format 20.4, F-226
//
// A missing, torn or damaged mark counts as none, and the store is read without it. A file written by another
// program, or by another version of the format, is rejected: continuing would overwrite it. Next to segments,
// only text is treated as another program's: other bytes are attributed to a disk that damages data, and the
// mark is a hint.

import CairnFileSystem
import CairnFormat
package import CairnStore
import SystemPackage

extension StoreFiles {
    /// Rejects a lock file that belongs to another program, or to another version of the format. Call it if
    /// there is no mark.
    package func refuseForeignLock() throws(StoreError) {
        let bytes = RawBytes(count: MarkRecord.size)
        var isAnothers = false
        do throws(FileSystemError) {
            bytes.trim(to: try lock.read(into: bytes.mutable, at: 0))
            if MarkRecord.isForeign(bytes.bytes) {
                isAnothers = MarkRecord.isForeignText(bytes.bytes)
                if !isAnothers { isAnothers = try segmentNumbers().isEmpty }
            }
        } catch {
            throw StoreError(error)
        }
        if isAnothers { throw isForeign("is not a store's (F-226)") }
        do throws(FormatError) {
            _ = try MarkRecord(decoding: bytes.bytes)
        } catch {
            guard error.code == .unsupportedVersion else { return }
            throw isForeign(
                "has format \(error.found ?? 0), which this version does not support (F-226)")
        }
    }

    private func isForeign(_ what: String) -> StoreError {
        StoreError(
            .openFailed, "the file \(SegmentName.lock) of the folder \(what)",
            context: .init(path: "\(lock.path)"))
    }
}
