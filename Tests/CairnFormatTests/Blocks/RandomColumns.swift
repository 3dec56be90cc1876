// Random columns that reach every encoding.

import CairnFormat
import CairnTestSupport

extension RandomSource {
    mutating func number(_ range: ClosedRange<Int>) -> Int {
        Int.random(in: range, using: &self)
    }

    /// Columns of all kinds for so many rows.
    mutating func columns(rows: Int) -> [TestColumn] {
        var id: UInt32 = 0
        return (0..<number(1...8)).map { _ in
            id += UInt32(number(1...1000))
            return column(id, rows: rows)
        }
    }

    mutating func column(_ id: UInt32, rows: Int) -> TestColumn {
        let kind = ColumnKind.allCases.randomElement(using: &self) ?? .integer
        var column: TestColumn
        switch kind {
        case .integer: column = .integers(id, integers(rows))
        case .double: column = .doubles(id, doubles(rows))
        case .float:
            let isConstant = oneIn(4)
            let first = UInt32(truncatingIfNeeded: next())
            column = TestColumn(
                kind: kind, propertyID: id,
                cells: (0..<rows).map { _ in
                    .float(isConstant ? first : UInt32(truncatingIfNeeded: next()))
                })
        case .fixed16:
            let isConstant = oneIn(4)
            let first = bytes(16)
            column = TestColumn(
                kind: kind, propertyID: id,
                cells: (0..<rows).map { _ in .fixed16(isConstant ? first : bytes(16)) })
        case .bytes: column = TestColumn(kind: kind, propertyID: id, cells: cells(rows))
        }
        let share = [0, 0, 2, 10, 100].randomElement(using: &self) ?? 0
        if share > 0 {
            for row in 0..<rows where oneIn(share) { column.cells[row] = nil }
        }
        if oneIn(20) { column.cells = Array(repeating: nil, count: rows) }
        return column
    }

    private mutating func integers(_ rows: Int) -> [Int64] {
        let base = Int64(bitPattern: next()) >> Int64(number(0...63))
        switch number(0...5) {
        case 0: return Array(repeating: base, count: rows)
        case 1:
            let step = Int64(bitPattern: next()) >> Int64(number(11...63))
            return (0..<rows).map { base &+ Int64($0) &* step }
        case 2: return (0..<rows).map { _ in Int64(bitPattern: next()) }
        case 3:
            // A few that lie far off, above or below.
            let (bits, far) = (number(1...30), Int64(oneIn(2) ? 1 : -1) << Int64(number(31...62)))
            return (0..<rows).map { _ in
                Int64(next() >> UInt64(64 - bits)) &+ (oneIn(40) ? far : 0)
            }
        default:
            let bits = number(1...63)
            return (0..<rows).map { _ in base &+ Int64(next() >> UInt64(64 - bits)) }
        }
    }

    private mutating func doubles(_ rows: Int) -> [Double] {
        switch number(0...6) {
        case 0: return Array(repeating: Double(bitPattern: next()), count: rows)
        case 1: return (0..<rows).map { _ in Double(bitPattern: next()) }
        case 2:
            let special = [
                -0.0, 0, .nan, .infinity, -.infinity, Double.leastNonzeroMagnitude, 0x1p53, 0x1p51,
                -0x1p51,
            ]
            return (0..<rows).map { _ in special.randomElement(using: &self) ?? 0 }
        case 3: return (0..<rows).map { _ in Double(number(-1_000_000...1_000_000)) / 100 }
        case 4:
            let power = [1.0, 10, 1000, 1e6, 1e9][number(0...4)]
            var values = (0..<rows).map { _ in Double(number(0...1 << 50)) / power }
            if oneIn(3) { values[number(0...rows - 1)] = -0.0 }
            return values
        case 5:
            // Times in sixteenths of a second, some of which are not known.
            return (0..<rows).map { _ in
                oneIn(50) ? -.infinity : 7e8 + Double(number(0...1 << 24)) / 16
            }
        default: return (0..<rows).map { _ in 7e8 + Double(number(0...1_000_000_000)) / 1000 }
        }
    }

    /// Texts of words, which symbols are found for, with some bytes among them that occur once.
    private mutating func texts(_ rows: Int) -> [TestCell] {
        let words = (0..<number(2...60)).map { _ in
            (0..<number(1...12)).map { _ in UInt8(number(97...122)) }
        }
        let most = number(1...8)
        return (0..<rows).map { _ in
            var text: [UInt8] = []
            for _ in 0..<number(0...most) {
                text += (words.randomElement(using: &self) ?? []) + [32]
            }
            if oneIn(10) { text += bytes(number(1...9)) }
            return .bytes(text)
        }
    }

    private mutating func cells(_ rows: Int) -> [TestCell] {
        let different = [1, 2, 10, 200, 300, 5000][number(0...5)]
        let longest = [0, 1, 5, 20, 300][number(0...4)]
        let pool = (0..<different).map { _ in bytes(number(0...longest)) }
        if oneIn(3) { return texts(rows) }
        let references = oneIn(4)
        return (0..<rows).map { _ in
            if references, oneIn(9) { return .reference(bytes(24)) }
            return .bytes(pool.randomElement(using: &self) ?? [])
        }
    }
}
