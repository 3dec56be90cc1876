// Reads a part of a checkpoint from its file.                                                       Format 85

package import CairnFileSystem
package import CairnFormat

extension CheckpointUnit {
    /// Returns the bytes of the part, verified and decompressed.
    package func read(from file: any File) throws -> RawBytes {
        let stored = RawBytes(count: Int(storedLength))
        stored.trim(to: try file.read(into: stored.mutable, at: offset))
        guard isCompressed else {
            try verify(stored.bytes)
            return stored
        }
        let raw = RawBytes(count: Int(rawLength))
        try expand(stored.bytes, into: raw.mutable)
        return raw
    }
}
