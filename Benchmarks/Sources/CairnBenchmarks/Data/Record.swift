// A row as bytes, for the peers that keep bytes: numbers at fixed places, then the texts.
//
//   0 price   8 quantity   16 updatedAt   24 flag   25, 26, 27 lengths of serial code, category and name   28 texts

enum Record {
    /// Room for any row: three lengths of a byte each.
    static let capacity = 28 + 3 * 255

    /// Writes a row; returns how many bytes it takes.
    @inline(__always)
    static func encode(_ row: Product, into target: UnsafeMutableRawPointer) -> Int {
        target.storeBytes(of: row.price, as: Double.self)
        target.storeBytes(of: row.quantity, toByteOffset: 8, as: Int64.self)
        target.storeBytes(of: row.updatedAt, toByteOffset: 16, as: Double.self)
        target.storeBytes(of: row.flag ? 1 : 0, toByteOffset: 24, as: UInt8.self)
        return row.withTexts { serialCode, name, category in
            var end = 28
            func append(_ text: UnsafeBufferPointer<UInt8>, _ length: Int) {
                precondition(text.count < 256, "a text's length is one byte")
                target.storeBytes(of: UInt8(text.count), toByteOffset: length, as: UInt8.self)
                if let base = text.baseAddress {
                    (target + end).copyMemory(from: base, byteCount: text.count)
                }
                end += text.count
            }
            append(serialCode, 25)
            append(category, 26)
            append(name, 27)
            return end
        }
    }

    /// The row that bytes say.
    @inline(__always)
    static func decode(_ record: UnsafeRawBufferPointer) -> Product {
        Product(
            serialCode: text(.serialCode, record), name: text(.name, record), price: price(record),
            quantity: record.loadUnaligned(fromByteOffset: 8, as: Int64.self),
            updatedAt: record.loadUnaligned(fromByteOffset: 16, as: Double.self),
            category: text(.category, record), flag: isFlagged(record))
    }

    static func price(_ record: UnsafeRawBufferPointer) -> Double {
        record.loadUnaligned(fromByteOffset: 0, as: Double.self)
    }

    static func isFlagged(_ record: UnsafeRawBufferPointer) -> Bool { record[24] != 0 }

    /// Whether the row is one of those that the filter asks for; decodes nothing.
    @inline(__always)
    static func matches(_ record: UnsafeRawBufferPointer) -> Bool {
        price(record) < ProductFilter.priceBelow
            && bytes(.category, record).elementsEqual(ProductFilter.category.utf8)
    }

    /// The bytes of a text.
    @inline(__always)
    static func bytes(_ text: ProductText, _ record: UnsafeRawBufferPointer)
        -> UnsafeRawBufferPointer
    {
        let (serial, category) = (Int(record[25]), Int(record[26]))
        let range =
            switch text {
            case .serialCode: 28..<28 + serial
            case .category: 28 + serial..<28 + serial + category
            case .name: 28 + serial + category..<28 + serial + category + Int(record[27])
            }
        return UnsafeRawBufferPointer(rebasing: record[range])
    }

    private static func text(_ text: ProductText, _ record: UnsafeRawBufferPointer) -> String {
        String(decoding: bytes(text, record), as: UTF8.self)
    }
}
