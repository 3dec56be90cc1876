// One piece of a large value.                                           Format 60, F-632 to F-634

/// The head of a value frame's payload; the piece follows it to the payload's end.
package struct ValuePayload: Sendable, Hashable {
    package static let headSize = 32
    /// The maximum size of a piece, in bytes.
    package static let maximumPiece = FormatLimits.maximumPayload - headSize

    package var tree: UInt32
    /// The object number of the owner.
    package var number: UInt32
    package var property: UInt32
    /// 0 for the first piece of a value, 1 for the next.
    package var sequence: UInt32
    /// The size of the whole value, in bytes.
    package var totalLength: UInt64
    /// The offset of the piece in the value.
    package var pieceOffset: UInt64

    package init(
        tree: UInt32, number: UInt32, property: UInt32, sequence: UInt32, totalLength: UInt64,
        pieceOffset: UInt64
    ) {
        self.tree = tree
        self.number = number
        self.property = property
        self.sequence = sequence
        self.totalLength = totalLength
        self.pieceOffset = pieceOffset
    }

    package func encode(piece: UnsafeRawBufferPointer, to writer: inout ByteWriter) {
        encodeHead(pieceCount: piece.count, to: &writer)
        writer.append(piece)
    }

    /// Writes the payload's head.
    func encodeHead(pieceCount: Int, to writer: inout ByteWriter) {
        precondition(
            pieceCount > 0 && pieceCount <= Self.maximumPiece
                && pieceOffset <= totalLength && UInt64(pieceCount) <= totalLength - pieceOffset,
            "a piece is inside its value and fits a frame")
        writer.append(tree)
        writer.append(number)
        writer.append(property)
        writer.append(sequence)
        writer.append(totalLength)
        writer.append(pieceOffset)
    }

    /// Decodes the head of a payload.
    package init(decoding payload: UnsafeRawBufferPointer) throws(FormatError) {
        var reader = ByteReader(payload)
        tree = try reader.integer()
        number = try reader.integer()
        property = try reader.integer()
        sequence = try reader.integer()
        totalLength = try reader.integer()
        pieceOffset = try reader.integer()
        let piece = UInt64(reader.remaining)
        guard piece > 0, pieceOffset <= totalLength, piece <= totalLength - pieceOffset,
            (sequence == 0) == (pieceOffset == 0)
        else {
            throw FormatError(
                .malformed, "F-633", "the piece does not lie inside its value", at: 24,
                expected: totalLength, found: pieceOffset)
        }
    }

    /// Returns the piece in a payload whose head was decoded.
    package static func piece(of payload: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: payload[min(headSize, payload.count)...])
    }
}
