// A patch of a block as a test sees it.

import CairnFormat
import CairnTestSupport

struct TestPatch {
    static let place = Place(segment: 3, byteOffset: 8192)

    /// The block that it is of, what is stored of it, and what of it as it has become.
    let base: [UInt8]
    let payload: [UInt8]
    let written: RewrittenPayload

    /// Writes a block once more with other values in some columns; behind an earlier patch, if there is one.
    init(
        of base: [UInt8], behind earlier: [UInt8]? = nil, _ columns: [TestColumn],
        schemaVersion: UInt32 = 2, isPacking: Bool = false, versions: [UInt32]
    ) throws {
        let memory = PlainMemory()
        var encoder = BlockEncoder()
        var writer = ByteWriter()
        written = try base.withUnsafeBytes { base in
            try (earlier ?? []).withUnsafeBytes { patch in
                let stored =
                    earlier == nil
                    ? StoredBlock(
                        head: try BlockHead(decoding: base), payload: base, basePayload: nil,
                        base: Self.place)
                    : StoredBlock(
                        head: try PatchHead(decoding: patch)
                            .joined(to: try BlockHead(decoding: base)), payload: patch,
                        basePayload: base, base: Self.place)
                return try encoder.rewrite(
                    stored, columns: columns.map { memory.plain($0) },
                    schemaVersion: schemaVersion, isPacking: isPacking,
                    versions: memory.copy(versions), into: &writer)
            }
        }
        withExtendedLifetime(memory) {}
        self.base = base
        payload = Array(writer.bytes)
    }

    var isPatch: Bool { written.borrowedBytes != nil }

    /// The cells of a column of the rows as they have become; nil if there is none.
    func cells(_ propertyID: UInt32) throws -> [TestCell?]? {
        try base.withUnsafeBytes { base in
            try payload.withUnsafeBytes { payload in
                let head =
                    isPatch
                    ? try PatchHead(decoding: payload).joined(to: try BlockHead(decoding: base))
                    : try BlockHead(decoding: payload)
                guard let entry = head.column(propertyID) else { return nil }
                let bytes = entry.isBorrowed ? base : payload
                return try DecodedColumn.decode(
                    slice: UnsafeRawBufferPointer(rebasing: bytes[entry.range]), entry,
                    rows: head.rows
                ).cells
            }
        }
    }
}
