// Sorts elements by their numbers, digit by digit: several times faster than comparison sorts, from some dozens of elements
// on. The sort is stable.
//
// Threads: a function.

enum NumberSort {
    private static let bits = 11

    /// Sorts by a number of each element.
    @inline(__always)
    static func sort<Element: BitwiseCopyable>(
        _ elements: inout [Element], by number: (Element) -> UInt32
    ) {
        if elements.count < 64 {
            // Small arrays are mostly sorted already, or nearly.
            insert(&elements, by: number)
            return
        }
        let count = elements.count
        var greatest: UInt32 = 0
        var last: UInt32 = 0
        var isSorted = true
        for element in elements {
            let own = number(element)
            if own < last { isSorted = false }
            last = own
            greatest = max(greatest, own)
        }
        if isSorted { return }
        elements.withUnsafeMutableBufferPointer { elements in
            withUnsafeTemporaryAllocation(of: Element.self, capacity: count) { spare in
                withUnsafeTemporaryAllocation(of: Int.self, capacity: 1 << bits) { places in
                    guard let first = elements.baseAddress, let second = spare.baseAddress else {
                        return
                    }
                    var (source, target) = (first, second)
                    var shift: UInt32 = 0
                    while shift == 0 || (shift < 32 && greatest >> shift != 0) {
                        let mask = UInt32(1 << bits - 1)
                        places.initialize(repeating: 0)
                        for index in 0..<count {
                            places[Int(number(source[index]) >> shift & mask)] &+= 1
                        }
                        var place = 0
                        for digit in places.indices {
                            (places[digit], place) = (place, place &+ places[digit])
                        }
                        for index in 0..<count {
                            let digit = Int(number(source[index]) >> shift & mask)
                            target[places[digit]] = source[index]
                            places[digit] &+= 1
                        }
                        (source, target) = (target, source)
                        shift += UInt32(bits)
                    }
                    if source != first { first.update(from: source, count: count) }
                }
            }
        }
    }

    @inline(__always)
    private static func insert<Element>(
        _ elements: inout [Element], by number: (Element) -> UInt32
    ) {
        elements.withUnsafeMutableBufferPointer { elements in
            for index in elements.indices.dropFirst() {
                let element = elements[index]
                var place = index
                while place > 0, number(elements[place &- 1]) > number(element) {
                    elements[place] = elements[place &- 1]
                    place &-= 1
                }
                elements[place] = element
            }
        }
    }
}
