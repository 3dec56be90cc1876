// Numbers of objects that arrive in parts: as many as a batch has, even if they are scattered.
//
// Lists are kept of which each has more runs than the one behind it, so that adding all parts takes O(n log n) of their runs and
// not the square of it.
//
// Threads: a value.

import CairnStore

/// A growing set of numbers.
struct GrowingNumbers {
    private var lists: [ObjectNumbers] = []

    mutating func add(_ numbers: ObjectNumbers) {
        if numbers.isEmpty { return }
        var numbers = numbers
        while let last = lists.last, last.runs.count <= numbers.runs.count {
            lists.removeLast()
            numbers.formUnion(last)
        }
        lists.append(numbers)
    }

    func contains(_ number: UInt64) -> Bool { lists.contains { $0.contains(number) } }

    /// All of them.
    var all: ObjectNumbers {
        lists.reversed().reduce(into: ObjectNumbers()) { $0.formUnion($1) }
    }
}
