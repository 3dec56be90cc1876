// The names of a transaction's cursors: few, so that the statements with them are prepared once.
//
//   "cairn_1"   in use until its reading ends, then to be closed with the next question, as that costs no round trip of its own
//
// Threads: one at a time.

struct CursorNames {
    private var used: Set<Int> = []
    /// Those that are no longer read and that the server still has.
    private var ended: [Int] = []

    /// A name that no open cursor has, once those that have ended are closed.
    mutating func take() -> Int {
        var number = 1
        while !used.insert(number).inserted { number += 1 }
        return number
    }

    /// The reading of a cursor has ended.
    mutating func end(_ number: Int) {
        used.remove(number)
        ended.append(number)
    }

    /// What closes the cursors that have ended.
    mutating func closing() -> [Statement] {
        defer { ended = [] }
        return ended.map { Statement("CLOSE \(Self.name($0))") }
    }

    static func name(_ number: Int) -> String { "cairn_\(number)" }
}
