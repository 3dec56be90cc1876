// What was found, in a few sums that do not depend on the order: every peer must come to the same.

import CBlackHole

/// Sums over rows.
struct Tally {
    private(set) var count = 0
    private var numbers: UInt64 = 0
    private var letters = 0

    /// Takes a row in: cheap, and the row is touched as far as it is one that is lazy.
    @inline(__always)
    mutating func add(_ row: borrowing Product) {
        count += 1
        numbers &+= row.price.bitPattern &+ UInt64(bitPattern: row.quantity)
        numbers &+= row.updatedAt.bitPattern &+ (row.flag ? 1 : 0)
        letters &+= row.serialCode.utf8.count &+ row.name.utf8.count &+ row.category.utf8.count
        withUnsafePointer(to: row) { black_hole($0) }
    }

    /// The same with each byte of text: for a look at everything outside the clock.
    mutating func addFully(_ row: Product) {
        add(row)
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for text in [row.serialCode, row.name, row.category] {
            for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            hash = (hash ^ 0xFF) &* 0x100_0000_01B3
        }
        numbers &+= hash &* (row.price.bitPattern | 1)
    }

    mutating func add(_ child: borrowing Child) {
        count += 1
        numbers &+= UInt64(bitPattern: child.amount)
        letters &+= child.label.utf8.count
        withUnsafePointer(to: child) { black_hole($0) }
    }

    /// The sums of another thread or part.
    mutating func add(_ other: Tally) {
        count += other.count
        numbers &+= other.numbers
        letters &+= other.letters
    }

    var text: String { "\(count):\(String(numbers, radix: 16)):\(letters)" }
}
