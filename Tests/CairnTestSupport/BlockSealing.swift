// A block's checksums made right after somebody has changed its bytes.                Format 40

import CairnFormat

/// Makes all that can be computed of a block right: the stored length of the last slice, the raw lengths of
/// slices that are not compressed, their sum, and all checksums. What is no block stays as it is.
package func sealBlock(_ payload: inout [UInt8]) {
    let (head, entrySize) = (BlockHead.size, 20)
    guard payload.count > head else { return }
    let columns = Int(payload[10]) | Int(payload[11]) << 8
    guard columns > 0, payload.count >= head + columns * entrySize else { return }
    var offset = head + columns * entrySize
    var raw: UInt32 = 0
    for column in 0..<columns {
        let entry = head + column * entrySize
        var length = Int(payload.word(at: entry + 8))
        if column == columns - 1 || offset + length > payload.count {
            length = payload.count - offset
            payload.put(UInt32(length), at: entry + 8)
        }
        let isCompressed = payload[entry + 6] & 2 != 0
        if !isCompressed { payload.put(UInt32(length), at: entry + 12) }
        raw &+= payload.word(at: entry + 12)
        let slice = payload[offset..<offset + length]
        payload.put(slice.withUnsafeBytes { Checksum.crc32c($0) }, at: entry + 16)
        offset += length
    }
    payload.put(raw, at: 16)
    let first = payload[..<20].withUnsafeBytes { Checksum.crc32c($0) }
    let table = payload[head..<head + columns * entrySize]
    payload.put(table.withUnsafeBytes { Checksum.crc32c($0, continuing: first) }, at: 20)
}

extension [UInt8] {
    fileprivate func word(at offset: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(self[offset + $1]) << UInt32($1 * 8) }
    }

    fileprivate mutating func put(_ value: UInt32, at offset: Int) {
        Swift.withUnsafeBytes(of: value.littleEndian) {
            replaceSubrange(offset..<offset + 4, with: $0)
        }
    }
}

/// Does the same for a patch and what it brings.
package func sealPatch(_ payload: inout [UInt8]) {
    guard payload.count > PatchHead.size else { return }
    var own = Array(payload[PatchHead.size...])
    sealBlock(&own)
    payload.replaceSubrange(PatchHead.size..., with: own)
    payload.put(payload[..<20].withUnsafeBytes { Checksum.crc32c($0) }, at: 20)
}
