// Memory for one column of 1,024 rows while it is encoded.
//
// Invariants: the result of `gather` has a value in every row: a nil row repeats the first row that is not
// nil, so that nils never widen an encoding.
// Threads: belongs to one encoder.

struct EncoderScratch {
    private static let rows = FormatLimits.maximumRows

    let nils: UnsafeMutablePointer<UInt8>
    let words: UnsafeMutablePointer<UInt64>
    let floats: UnsafeMutablePointer<UInt32>
    let starts: UnsafeMutablePointer<UInt32>
    let lengths: UnsafeMutablePointer<UInt32>
    let externals: UnsafeMutablePointer<UInt8>
    /// For the dictionary trial: the first row of each value, the code of each row, the hash table.
    let firstRows: UnsafeMutablePointer<UInt16>
    let codes: UnsafeMutablePointer<UInt16>
    let table: UnsafeMutablePointer<UInt16>
    /// For packed columns: whole numbers, the numbers to pack, the count of numbers per bit width, places of
    /// bytes.
    let whole: UnsafeMutableRawPointer
    let distances: UnsafeMutablePointer<UInt64>
    let widths: UnsafeMutablePointer<UInt16>
    let places: UnsafeMutablePointer<UInt32>
    static let tableSize = 2048

    init() {
        nils = .allocate(capacity: Self.rows)
        words = .allocate(capacity: Self.rows)
        floats = .allocate(capacity: Self.rows)
        starts = .allocate(capacity: Self.rows)
        lengths = .allocate(capacity: Self.rows)
        externals = .allocate(capacity: Self.rows)
        firstRows = .allocate(capacity: Self.rows)
        codes = .allocate(capacity: Self.rows)
        table = .allocate(capacity: Self.tableSize)
        whole = .allocate(byteCount: Self.rows * 8, alignment: 16)
        distances = .allocate(capacity: Self.rows)
        widths = .allocate(capacity: 132)
        places = .allocate(capacity: Self.rows + 1)
    }

    func deallocate() {
        nils.deallocate()
        words.deallocate()
        floats.deallocate()
        starts.deallocate()
        lengths.deallocate()
        externals.deallocate()
        firstRows.deallocate()
        codes.deallocate()
        table.deallocate()
        whole.deallocate()
        distances.deallocate()
        widths.deallocate()
        places.deallocate()
    }

    /// Fills `nils` with 0 and 1.
    ///
    /// - Returns: the number of nil rows.
    func gatherNils(
        _ source: UnsafePointer<UInt8>?, _ selection: UnsafePointer<UInt16>?, _ rows: Int
    ) -> Int {
        guard let source else { return 0 }
        var count = 0
        if let selection {
            for row in 0..<rows {
                let flag: UInt8 = source[Int(selection[row])] == 0 ? 0 : 1
                nils[row] = flag
                count &+= Int(flag)
            }
        } else {
            for row in 0..<rows {
                let flag: UInt8 = source[row] == 0 ? 0 : 1
                nils[row] = flag
                count &+= Int(flag)
            }
        }
        return count
    }

    func gather(
        _ source: UnsafePointer<Int64>, _ nils: UnsafePointer<UInt8>?,
        _ selection: UnsafePointer<UInt16>?, _ rows: Int
    ) -> UnsafePointer<Int64> {
        let target = UnsafeMutableRawPointer(words).bindMemory(to: Int64.self, capacity: Self.rows)
        return gather(source, nils, selection, rows, into: target)
    }

    func gather(
        _ source: UnsafePointer<UInt64>, _ nils: UnsafePointer<UInt8>?,
        _ selection: UnsafePointer<UInt16>?, _ rows: Int
    ) -> UnsafePointer<UInt64> {
        let target = UnsafeMutableRawPointer(words).bindMemory(to: UInt64.self, capacity: Self.rows)
        return gather(source, nils, selection, rows, into: target)
    }

    func gather(
        _ source: UnsafePointer<UInt32>, _ nils: UnsafePointer<UInt8>?,
        _ selection: UnsafePointer<UInt16>?, _ rows: Int
    ) -> UnsafePointer<UInt32> {
        gather(source, nils, selection, rows, into: floats)
    }

    @inline(__always)
    private func gather<T>(
        _ source: UnsafePointer<T>, _ nils: UnsafePointer<UInt8>?,
        _ selection: UnsafePointer<UInt16>?, _ rows: Int, into target: UnsafeMutablePointer<T>
    ) -> UnsafePointer<T> {
        if let selection {
            for row in 0..<rows { target[row] = source[Int(selection[row])] }
        } else if nils == nil {
            return source
        } else {
            target.update(from: source, count: rows)
        }
        if let nils, let first = (0..<rows).first(where: { nils[$0] == 0 }) {
            let filler = target[first]
            for row in 0..<rows where nils[row] != 0 { target[row] = filler }
        }
        return UnsafePointer(target)
    }

    func widen(_ source: UnsafePointer<UInt32>, _ rows: Int) -> UnsafePointer<Int64> {
        let target = UnsafeMutableRawPointer(words).bindMemory(to: Int64.self, capacity: Self.rows)
        for row in 0..<rows { target[row] = Int64(source[row]) }
        return UnsafePointer(target)
    }
}

extension ByteWriter {
    /// Appends one bit per row, 1 if the byte is not 0; the bits after the last row are 0. (F-501)
    mutating func appendBitmap(_ flags: UnsafePointer<UInt8>, _ rows: Int) {
        let target = reserve((rows + 7) / 8)
        for index in 0..<(rows + 7) / 8 {
            var byte: UInt8 = 0
            for bit in 0..<min(8, rows - index * 8) where flags[index * 8 + bit] != 0 {
                byte |= 1 << UInt8(bit)
            }
            target.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
        }
    }
}
