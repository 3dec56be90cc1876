// Which new objects became of which old ones, by one entity mapping: as numbers, in the order in which they were told.
//
// Mostly old objects come in the order of their numbers, and new ones get theirs in the same order: then both lists ascend, and
// are searched as they are. When one does not any more it gets a table, and from then on keeps it.
//
// Invariants: both lists have the same length; a search gives places in ascending order.
// Threads: one migration in one thread.

/// The associations of one entity mapping: 8 bytes each while numbers ascend.
struct InstanceAssociations {
    private var sourceNumbers = NumberList()
    private var destinationNumbers = NumberList()

    var count: Int { sourceNumbers.count }
    /// Whether a new object may be there twice.
    var mayRepeatDestinations: Bool { !destinationNumbers.isStrict }

    mutating func append(source: UInt32, destination: UInt32) {
        sourceNumbers.append(source)
        destinationNumbers.append(destination)
    }

    /// All old objects, and for each the new one.
    var lists: (sources: [UInt32], destinations: [UInt32]) {
        (sourceNumbers.numbers, destinationNumbers.numbers)
    }

    func source(at place: Int) -> UInt32 { sourceNumbers[place] }

    func destination(at place: Int) -> UInt32 { destinationNumbers[place] }

    /// The new objects of an old one, in the order in which they were told.
    func destinations(of source: UInt32) -> [UInt32] {
        sourceNumbers.places(of: source).map { destinationNumbers[$0] }
    }

    /// The old objects of a new one, in the order in which they were told.
    func sources(of destination: UInt32) -> [UInt32] {
        destinationNumbers.places(of: destination).map { sourceNumbers[$0] }
    }
}

/// Numbers that can be searched.
private struct NumberList {
    private(set) var numbers: [UInt32] = []
    /// Whether no number is less than the one before.
    private var isAscending = true
    /// Whether every number is greater than the one before.
    private(set) var isStrict = true
    /// When they do not ascend: by number the last place where it is.
    private var last: [UInt32: Int32] = [:]
    /// By place: the place before with the same number; -1 if there is none.
    private var before: [Int32] = []

    var count: Int { numbers.count }

    subscript(place: Int) -> UInt32 { numbers[place] }

    mutating func append(_ number: UInt32) {
        if let previous = numbers.last {
            if number <= previous { isStrict = false }
            if number < previous, isAscending {
                isAscending = false
                for place in numbers.indices { link(place) }
            }
        }
        numbers.append(number)
        if !isAscending { link(numbers.count - 1) }
    }

    private mutating func link(_ place: Int) {
        before.append(last.updateValue(Int32(place), forKey: numbers[place]) ?? -1)
    }

    func places(of number: UInt32) -> [Int] {
        guard isAscending else {
            var places: [Int] = []
            var next = last[number] ?? -1
            while next >= 0 {
                places.append(Int(next))
                next = before[Int(next)]
            }
            return places.reversed()
        }
        var (low, high) = (0, numbers.count)
        while low < high {
            let middle = (low + high) / 2
            if numbers[middle] < number { low = middle + 1 } else { high = middle }
        }
        var end = low
        while end < numbers.count, numbers[end] == number { end += 1 }
        return Array(low..<end)
    }
}
