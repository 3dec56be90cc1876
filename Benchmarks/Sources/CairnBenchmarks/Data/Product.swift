// The rows that every peer is given: the same ones in each run.

/// One row: seven attributes, one of them unique.
struct Product: Sendable, Equatable {
    var serialCode: String
    var name: String
    var price: Double
    var quantity: Int64
    var updatedAt: Double
    var category: String
    var flag: Bool

    /// The bytes that the row has to say: what is written is held against them.
    var bytes: Int { serialCode.utf8.count + name.utf8.count + category.utf8.count + 25 }

    private static let seed: UInt64 = 42

    /// Rows from a fixed seed; those of a smaller count are the first ones of a larger.
    static func rows(_ count: Int) -> [Product] { rows(0..<count) }

    /// Some of these rows.
    static func rows(_ range: Range<Int>) -> [Product] {
        var random = SplitMix64(state: seed, skipping: range.lowerBound * 2)
        let categories = (0..<50).map { "category-\($0)" }
        let words = ["anchor", "basalt", "cobble", "dolmen", "esker", "flint", "granite", "hamlet"]
        return range.map { index in
            let bits = random.next()
            let (first, second, third) = (bits & 7, bits >> 3 & 7, bits >> 6 & 7)
            return Product(
                serialCode: serial(random.next(), index),
                name: "\(words[Int(first)]) \(words[Int(second)]) \(words[Int(third)]) "
                    + "\(bits >> 32 & 0xFFF)",
                price: Double(bits >> 11 & 0xFFFFF) / 100, quantity: Int64(bits >> 40 & 0x3FF),
                updatedAt: 7e8 + Double(bits >> 20 & 0xFFFFFF) / 16,
                category: categories[Int(bits >> 50) % 50], flag: bits >> 63 == 1)
        }
    }

    /// The row as its feed says it the next time: with other numbers.
    var changed: Product {
        var row = self
        row.price += 1.25
        row.quantity += 7
        row.updatedAt += 3600
        return row
    }

    /// The rows as a feed lists them the next time: of four hundred three are changed, and one is gone for a new one.
    static func nextList(_ count: Int) -> [Product] {
        let step = 100
        var list = rows(count + count / (step * 4) + 1)
        let new = list[count...]
        list.removeLast(list.count - count)
        for index in stride(from: 0, to: count, by: step) {
            let turn = index / step
            if turn % 4 == 3 {
                list[index] = new[count + turn / 4]
            } else {
                list[index] = list[index].changed
            }
        }
        return list
    }

    /// The serial code of one of these rows.
    static func serialCode(of index: Int) -> String {
        var random = SplitMix64(state: seed, skipping: index * 2 + 1)
        return serial(random.next(), index)
    }

    /// Twelve characters that look random and occur once.
    private static func serial(_ bits: UInt64, _ index: Int) -> String {
        let digits = Array("0123456789ABCDEFGHJKLMNPQRSTUVWX".utf8)
        var rest = UInt64(index)
        var text: [UInt8] = []
        for _ in 0..<5 {
            text.append(digits[Int(rest & 31)])
            rest >>= 5
        }
        var noise = bits
        for _ in 0..<7 {
            text.append(digits[Int(noise & 31)])
            noise >>= 5
        }
        return String(decoding: text.reversed(), as: UTF8.self)
    }

    /// Calls a closure with the bytes of serial code, name and category.
    @inline(__always)
    func withTexts<R>(
        _ body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>)
            throws -> R
    ) rethrows -> R {
        var (serialCode, name, category) = (serialCode, name, category)
        return try serialCode.withUTF8 { serialCode in
            try name.withUTF8 { name in
                try category.withUTF8 { category in try body(serialCode, name, category) }
            }
        }
    }
}

extension Product {
    /// The row as a list's reader would give it.
    var dictionary: [String: Any] {
        [
            "serialCode": serialCode, "name": name, "price": price, "quantity": quantity,
            "updatedAt": updatedAt, "category": category, "flag": flag,
        ]
    }

    /// The row that a dictionary says.
    init?(dictionary: [String: Any]) {
        guard let serialCode = dictionary["serialCode"] as? String,
            let name = dictionary["name"] as? String, let price = dictionary["price"] as? Double,
            let quantity = dictionary["quantity"] as? Int64,
            let updatedAt = dictionary["updatedAt"] as? Double,
            let category = dictionary["category"] as? String,
            let flag = dictionary["flag"] as? Bool
        else { return nil }
        self.init(
            serialCode: serialCode, name: name, price: price, quantity: quantity,
            updatedAt: updatedAt, category: category, flag: flag)
    }
}

/// Which rows the filtered workloads ask for: one in a hundred.
enum ProductFilter {
    static let category = "category-7"
    static let priceBelow = 5242.88
}

/// A column of text that rows are grouped by.
enum ProductText: String, CaseIterable, Sendable {
    case category, serialCode, name
}

/// What the first rows of a request are.
enum ProductOrder: CaseIterable, Sendable {
    case newest, cheapest
}
