// The rows of a batch as bytes, to keep them in a file: column after column, each with its layout in memory.
//
// The bytes are read by the process that has written them.
//
// Threads: as the batch.

extension ColumnBatch {
    /// Whether the columns contain all of the rows' data.
    var isPlain: Bool { lists.pointee.all.isEmpty }

    /// Appends its rows.
    func append(to bytes: inout [UInt8]) {
        for index in columns.indices { columns[index].append(rows: rows, to: &bytes) }
    }

    /// Takes rows that a batch of the same entity has appended.
    ///
    /// - Precondition: it is empty.
    func take(_ count: Int, from bytes: UnsafeRawBufferPointer) {
        var place = 0
        for index in columns.indices {
            columns[index].take(rows: count, from: bytes, at: &place)
        }
        precondition(place == bytes.count, "all written bytes are read")
        rows = count
    }
}

extension ColumnBuffer {
    fileprivate func append(rows: Int, to bytes: inout [UInt8]) {
        Self.append(used, to: &bytes)
        Self.append(noNumberRow, to: &bytes)
        bytes.append(contentsOf: UnsafeRawBufferPointer(start: states, count: rows))
        bytes.append(contentsOf: UnsafeRawBufferPointer(start: values, count: rows * kind.width))
        if kind == .bytes {
            bytes.append(contentsOf: UnsafeRawBufferPointer(start: lengths, count: rows * 4))
        }
        bytes.append(contentsOf: UnsafeRawBufferPointer(start: data, count: used))
    }

    fileprivate mutating func take(
        rows: Int, from bytes: UnsafeRawBufferPointer, at place: inout Int
    ) {
        func next(_ count: Int) -> UnsafeRawBufferPointer {
            defer { place += count }
            return UnsafeRawBufferPointer(rebasing: bytes[place..<place + count])
        }
        let count = next(8).loadUnaligned(as: Int.self)
        let noNumber = next(8).loadUnaligned(as: Int.self)
        UnsafeMutableRawBufferPointer(start: states, count: rows).copyMemory(from: next(rows))
        UnsafeMutableRawBufferPointer(start: values, count: rows * kind.width).copyMemory(
            from: next(rows * kind.width))
        if kind == .bytes {
            UnsafeMutableRawBufferPointer(start: lengths, count: rows * 4).copyMemory(
                from: next(rows * 4))
        }
        if capacity < count { _ = grow(count, row: 0) }
        UnsafeMutableRawBufferPointer(start: data, count: count).copyMemory(from: next(count))
        used = count
        if noNumber >= 0 { setNoNumber(row: noNumber) }
    }

    private static func append(_ number: Int, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) }
    }
}
