// Blocks of one row, which most commits of a program that saves continuously consist of.
//
// All choices for many rows are fixed for one row: nothing is nil (a column without a value is omitted), no
// slice is compressed, no dictionary pays off, integers have no distances and the rest is constant. So head,
// table and slices are written to their final positions in one pass. The bytes are the same as those of
// `encode`.

extension BlockEncoder {
    /// Appends the payload of a block of one row; returns the size of all slices, in bytes.
    ///
    /// - Parameters:
    ///   - cells: the cells, in ascending order of property ids.
    ///   - number: the object number of the row.
    ///   - version: the row's version.
    /// - Throws: `FormatError` with `.tooLarge` if slices or payload exceed 16 MiB. (F-303, F-406)
    package static func encodeRow(
        entity: UInt32, schemaVersion: UInt32, isMoved: Bool = false,
        cells: UnsafeBufferPointer<RowCell>, number: UInt32, version: UInt32,
        into writer: inout ByteWriter
    ) throws(FormatError) -> Int {
        precondition(entity != 0, "entities are numbered from 1")
        var rawLength = 2 * NarrowIntegers.headSize
        for cell in cells {
            guard cell.count <= FormatLimits.maximumRawBlock - rawLength else {
                throw SliceCompressor.tooLarge(rawLength, UInt64(cell.count))
            }
            rawLength += cell.sliceLength
        }
        let headLength = BlockHead.size + (cells.count + 2) * ColumnEntry.size
        let length = headLength + rawLength
        guard rawLength <= FormatLimits.maximumRawBlock, length <= FormatLimits.maximumPayload
        else {
            throw FormatError(
                .tooLarge, "F-303", "a block does not fit a frame",
                expected: UInt64(FormatLimits.maximumPayload), found: UInt64(length))
        }
        let base = writer.reserve(length)
        base.storeBytes(of: entity.littleEndian, as: UInt32.self)
        base.storeBytes(of: schemaVersion.littleEndian, toByteOffset: 4, as: UInt32.self)
        base.storeBytes(of: UInt16(1).littleEndian, toByteOffset: 8, as: UInt16.self)
        base.storeBytes(
            of: UInt16(cells.count + 2).littleEndian, toByteOffset: 10, as: UInt16.self)
        let flags: UInt16 = isMoved ? BlockHead.movedFlag : 0
        base.storeBytes(of: flags.littleEndian, toByteOffset: 12, as: UInt16.self)
        base.storeBytes(of: 0, toByteOffset: 14, as: UInt16.self)
        base.storeBytes(of: UInt32(rawLength).littleEndian, toByteOffset: 16, as: UInt32.self)
        base.storeBytes(of: 0, toByteOffset: 20, as: UInt32.self)
        var entry = base + BlockHead.size
        var slice = base + headLength
        var previous: UInt32 = 0
        for cell in cells {
            precondition(
                previous < cell.propertyID && cell.propertyID < FormatLimits.firstHiddenProperty,
                "columns are in order and not hidden")
            previous = cell.propertyID
            cell.store(into: slice)
            let flags: ColumnFlags = cell.isExternal ? .externals : []
            finish(
                &slice, cell.sliceLength, property: cell.propertyID, kind: cell.kind,
                encoding: cell.encoding, flags: flags, entry: &entry)
        }
        finishHidden(&slice, HiddenProperty.number, number, entry: &entry)
        finishHidden(&slice, HiddenProperty.version, version, entry: &entry)
        let checksum = BlockHead.checksum(UnsafeRawBufferPointer(start: base, count: headLength))
        base.storeBytes(
            of: checksum.littleEndian, toByteOffset: BlockHead.size - 4, as: UInt32.self)
        return rawLength
    }

    @inline(__always)
    private static func finishHidden(
        _ slice: inout UnsafeMutableRawPointer, _ property: UInt32, _ value: UInt32,
        entry: inout UnsafeMutableRawPointer
    ) {
        NarrowIntegers.store(single: Int64(value), into: slice)
        finish(
            &slice, NarrowIntegers.headSize, property: property, kind: .integer,
            encoding: .narrow, flags: [], entry: &entry)
    }

    /// Describes a slice that was written, and advances past it.
    @inline(__always)
    private static func finish(
        _ slice: inout UnsafeMutableRawPointer, _ length: Int, property: UInt32, kind: ColumnKind,
        encoding: ColumnEncoding, flags: ColumnFlags, entry: inout UnsafeMutableRawPointer
    ) {
        ColumnEntry(
            propertyID: property, kind: kind, encoding: encoding, flags: flags, offset: 0,
            storedLength: length, rawLength: length,
            checksum: Checksum.crc32c(UnsafeRawBufferPointer(start: slice, count: length))
        ).store(into: entry)
        slice += length
        entry += ColumnEntry.size
    }
}
