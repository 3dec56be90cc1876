// The longest rising part of a row of numbers: what can stay where it is when the rest moves.
//
// For each length the place of the least number is kept that ends a rising part of that length; each number is put where it
// makes the least, found by halving.
//
// Threads: none.

/// Rising parts of rows of numbers.
enum RisingRun {
    /// The places of numbers that rise, as many as there can be. No number is there twice.
    ///
    /// - Complexity: O(n log n), O(n) if all rise.
    static func longest(_ numbers: [Int]) -> [Int] {
        var ends: [Int] = []
        var previous = Array(repeating: -1, count: numbers.count)
        for (place, number) in numbers.enumerated() {
            if let last = ends.last, numbers[last] < number {
                previous[place] = last
                ends.append(place)
                continue
            }
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if numbers[ends[middle]] < number { low = middle + 1 } else { high = middle }
            }
            if low > 0 { previous[place] = ends[low - 1] }
            if low == ends.count { ends.append(place) } else { ends[low] = place }
        }
        var run: [Int] = []
        var place = ends.last ?? -1
        while place >= 0 {
            run.append(place)
            place = previous[place]
        }
        run.reverse()
        return run
    }
}
