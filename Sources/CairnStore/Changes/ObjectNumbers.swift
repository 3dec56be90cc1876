// Numbers of objects as ranges: however many objects a batch inserts, they take a few bytes.
//
// Invariants: the runs rise, and no two of them touch.
// Threads: a value.

/// Numbers of objects in one hierarchy, in ascending order.
public struct ObjectNumbers: Sendable, Hashable {
    /// The ranges, in ascending order; no two of them are adjacent.
    public private(set) var runs: [ClosedRange<UInt64>] = []
    /// The number of elements.
    public private(set) var count = 0

    /// Creates an empty set of numbers.
    public init() {}

    /// Creates a set of numbers from a sequence in any order, which can have duplicates.
    public init(_ numbers: some Sequence<UInt64>) {
        for number in numbers.sorted() { append(number) }
    }

    /// Whether it is empty.
    public var isEmpty: Bool { runs.isEmpty }

    /// Adds a number that is not below any that is there.
    package mutating func append(_ number: UInt64) {
        guard let last = runs.last else {
            runs.append(number...number)
            count = 1
            return
        }
        precondition(number >= last.upperBound, "numbers are added in ascending order")
        if number == last.upperBound { return }
        count += 1
        if number == last.upperBound + 1 {
            runs[runs.count - 1] = last.lowerBound...number
        } else {
            runs.append(number...number)
        }
    }

    /// Adds numbers that are above any that is there.
    package mutating func append(_ run: ClosedRange<UInt64>) {
        append(run.lowerBound)
        guard run.count > 1, let last = runs.last else { return }
        runs[runs.count - 1] = last.lowerBound...run.upperBound
        count += run.count - 1
    }

    /// Adds numbers that are all behind the last one.
    ///
    /// - Complexity: O(runs that are added).
    package mutating func append(contentsOf other: ObjectNumbers) {
        for run in other.runs { append(run) }
    }

    /// The same numbers with that of a store in the upper half; see `StoreNumbers`.
    package func moved(to store: UInt32) -> ObjectNumbers {
        var moved = ObjectNumbers()
        let upper = UInt64(store) << 32
        moved.runs = runs.map { upper | $0.lowerBound...upper | $0.upperBound }
        moved.count = count
        return moved
    }

    /// Whether it contains a number.
    ///
    /// - Complexity: O(log runs).
    public func contains(_ number: UInt64) -> Bool {
        var (low, high) = (0, runs.count)
        while low < high {
            let middle = (low + high) / 2
            if runs[middle].upperBound < number { low = middle + 1 } else { high = middle }
        }
        return low < runs.count && runs[low].contains(number)
    }

    /// Adds all numbers of another set.
    ///
    /// - Complexity: O(runs of both).
    public mutating func formUnion(_ other: ObjectNumbers) {
        if other.isEmpty { return }
        if isEmpty {
            self = other
            return
        }
        var merged: [ClosedRange<UInt64>] = []
        merged.reserveCapacity(runs.count + other.runs.count)
        var (mine, theirs) = (runs[...], other.runs[...])
        while let next = mine.first ?? theirs.first {
            let run: ClosedRange<UInt64>
            if let other = theirs.first, other.lowerBound < next.lowerBound || mine.isEmpty {
                run = other
                theirs.removeFirst()
            } else {
                run = next
                mine.removeFirst()
            }
            if let last = merged.last, run.lowerBound <= last.upperBound.addingOne {
                merged[merged.count - 1] =
                    last.lowerBound...Swift.max(last.upperBound, run.upperBound)
            } else {
                merged.append(run)
            }
        }
        runs = merged
        count = merged.reduce(0) { $0 + $1.count }
    }
}

extension UInt64 {
    fileprivate var addingOne: UInt64 { self == .max ? self : self + 1 }
}

extension ObjectNumbers: Sequence {
    /// Iterates over the numbers in ascending order.
    public struct Iterator: IteratorProtocol, Sendable {
        fileprivate let runs: [ClosedRange<UInt64>]
        fileprivate var run = 0
        fileprivate var upcoming: UInt64?

        /// The next number.
        public mutating func next() -> UInt64? {
            guard let number = upcoming else { return nil }
            if number < runs[run].upperBound {
                upcoming = number + 1
            } else {
                run += 1
                upcoming = run < runs.count ? runs[run].lowerBound : nil
            }
            return number
        }
    }

    /// Iterates over the numbers in ascending order.
    public func makeIterator() -> Iterator {
        Iterator(runs: runs, upcoming: runs.first?.lowerBound)
    }

    /// The number of elements.
    public var underestimatedCount: Int { count }
}

extension ObjectNumbers {
    /// The first of the numbers.
    ///
    /// - Complexity: O(runs).
    func first(_ count: Int) -> ObjectNumbers { ObjectNumbers(first: count, of: runs) }

    fileprivate init(first count: Int, of runs: [ClosedRange<UInt64>]) {
        for run in runs {
            let left = count - self.count
            if left <= 0 { break }
            let last = run.count > left ? run.lowerBound + UInt64(left) - 1 : run.upperBound
            append(run.lowerBound...last)
        }
    }

    /// Adds the places that some of the numbers have among these.
    ///
    /// - Parameters:
    ///   - some: numbers that are all here.
    ///   - start: the place of the first number.
    /// - Complexity: O(runs of both).
    func places(of some: ObjectNumbers, from start: UInt64, into places: inout ObjectNumbers) {
        var start = start
        var index = 0
        for run in some.runs {
            // Numbers that touch there do so here, so that a run lies in one.
            while index < runs.count, runs[index].upperBound < run.lowerBound {
                start += UInt64(runs[index].count)
                index += 1
            }
            guard index < runs.count else { return }
            let first = start + (run.lowerBound - runs[index].lowerBound)
            places.append(first...first + UInt64(run.count - 1))
        }
    }
}

/// Numbers that are asked for by their places among them.
struct ObjectPlaces: Sendable {
    private let runs: [ClosedRange<UInt64>]
    /// The place of the first number of each run.
    private let starts: [Int]

    init(_ numbers: ObjectNumbers) {
        runs = numbers.runs
        var starts: [Int] = []
        var start = 0
        for run in numbers.runs {
            starts.append(start)
            start += run.count
        }
        self.starts = starts
    }

    /// The numbers at the first places.
    func first(_ count: Int) -> ObjectNumbers { ObjectNumbers(first: count, of: runs) }

    /// The number at a place, which must be there.
    ///
    /// - Complexity: O(log runs).
    subscript(_ place: Int) -> UInt64 {
        var (low, high) = (0, runs.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= place { low = middle } else { high = middle }
        }
        return runs[low].lowerBound + UInt64(place - starts[low])
    }
}
