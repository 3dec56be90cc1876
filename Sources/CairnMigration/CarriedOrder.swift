// The order of lists whose members are stored in other rows than before.
//
// Rows without an order key stand by their numbers (F-709). Where that is not the order that a list had, its rows share the keys
// that their numbers stand for, in the order of the list: so all keys differ, and stay below those of numbers to come (F-710).
//
// Threads: a value.

import CairnLog

struct CarriedOrder {
    /// The position of a member among its owner's members; the owner is in the upper bits of the key, the member in the
    /// lower.
    private let places: [UInt64: Int]

    var isEmpty: Bool { places.isEmpty }

    /// - Parameter lists: the owner above, the member below; each owner's members in their order.
    init(_ lists: [UInt64] = []) {
        places = Dictionary(lists.enumerated().map { ($1, $0) }) { first, _ in first }
    }

    /// A row that makes somebody a member of a list.
    struct Row {
        let owner: UInt32
        let member: UInt32
        let number: UInt32

        fileprivate var link: UInt64 { UInt64(owner) << 32 | UInt64(member) }
    }

    /// The keys that rows need, in the same order; nil where the number of a row puts it in its place.
    ///
    /// - Complexity: O(*n* log *n*).
    func keys(_ rows: [Row]) -> [Int64?] {
        var keys = [Int64?](repeating: nil, count: rows.count)
        if isEmpty { return keys }
        let byNumber = rows.indices.sorted {
            (rows[$0].owner, rows[$0].number) < (rows[$1].owner, rows[$1].number)
        }
        var start = 0
        while start < byNumber.count {
            var end = start + 1
            while end < byNumber.count, rows[byNumber[end]].owner == rows[byNumber[start]].owner {
                end += 1
            }
            let list = byNumber[start..<end]
            // Who was in no list comes last, by number.
            let inOrder = list.sorted {
                (place(rows[$0]), rows[$0].number) < (place(rows[$1]), rows[$1].number)
            }
            if !inOrder.elementsEqual(list) {
                for (row, other) in zip(inOrder, list) {
                    keys[row] = OrderKeys.key(of: rows[other].number)
                }
            }
            start = end
        }
        return keys
    }

    private func place(_ row: Row) -> Int { places[row.link] ?? .max }
}
