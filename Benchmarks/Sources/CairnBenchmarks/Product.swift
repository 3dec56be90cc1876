// The rows that every peer is given: the same ones in each run.

/// One row: seven attributes, one of them unique.
struct Product: Sendable {
    var serialCode: String
    var name: String
    var price: Double
    var quantity: Int64
    var updatedAt: Double
    var category: String
    var flag: Bool

    /// One of those rows.
    static func row(_ index: Int) -> Product { rows(index + 1)[index] }

    /// Rows from a fixed seed.
    static func rows(_ count: Int) -> [Product] {
        var random = SplitMix64(state: 42)
        let categories = (0..<50).map { "category-\($0)" }
        let words = ["anchor", "basalt", "cobble", "dolmen", "esker", "flint", "granite", "hamlet"]
        return (0..<count).map { index in
            let bits = random.next()
            return Product(
                serialCode: serial(random.next(), index),
                name:
                    "\(words[Int(bits & 7)]) \(words[Int(bits >> 3 & 7)]) \(words[Int(bits >> 6 & 7)]) \(bits >> 32 & 0xFFF)",
                price: Double(bits >> 11 & 0xFFFFF) / 100, quantity: Int64(bits >> 40 & 0x3FF),
                updatedAt: 7e8 + Double(bits >> 20 & 0xFFFFFF) / 16,
                category: categories[Int(bits >> 50) % 50], flag: bits >> 63 == 1)
        }
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
}

/// A small generator whose numbers never change.
struct SplitMix64 {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
