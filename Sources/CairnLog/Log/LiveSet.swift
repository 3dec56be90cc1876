// The segments that make up a store at one commit.                                                  Format 65
//
// Main segments form the log, the newest one takes commits. Side segments contain what compaction moved; only
// the part of each that the log has adopted counts.
//
// Threads: a value; the segments may be read from any thread.

package import CairnFormat

/// The segments of a state.
package struct LiveSet: Sendable {
    /// The adopted part of a side segment.
    package struct Side: Sendable {
        let segment: Segment
        /// The end of the adopted part, and the chain value there.
        package var end: UInt64
        var chain: UInt32
    }

    /// Oldest first; the last one takes commits.
    package private(set) var mains: [Segment]
    /// By ascending number.
    package private(set) var sides: [Side]

    /// No segments.
    init() {
        mains = []
        sides = []
    }

    init(mains: [Segment], sides: [Side] = []) {
        self.mains = mains
        self.sides = sides.sorted { $0.segment.number < $1.segment.number }
    }

    /// The segment that takes commits.
    package var current: Segment {
        guard let last = mains.last else {
            preconditionFailure("a store that is open has a segment")
        }
        return last
    }

    /// The segment with a number; nil if it is not one of them.
    package subscript(_ number: UInt32) -> Segment? {
        mains.last { $0.number == number } ?? sides.last { $0.segment.number == number }?.segment
    }

    /// All of them, in no particular order.
    var all: [Segment] { mains + sides.map(\.segment) }

    /// Adds a new segment, which takes commits from now on.
    mutating func begin(_ segment: Segment) { mains.append(segment) }

    /// Replaces the newest segment by an object whose file is writable.
    package mutating func replaceCurrent(with segment: Segment) {
        mains[mains.count - 1] = segment
    }

    /// Removes main segments with numbers above the given one.
    mutating func removeMains(above number: UInt32) { mains.removeAll { $0.number > number } }

    /// Adds a side segment, or more of it.
    mutating func adopt(_ segment: Segment, end: UInt64, chain: UInt32) {
        if let index = sides.firstIndex(where: { $0.segment.number == segment.number }) {
            sides[index].end = end
            sides[index].chain = chain
            return
        }
        let index = sides.firstIndex { $0.segment.number > segment.number } ?? sides.count
        sides.insert(Side(segment: segment, end: end, chain: chain), at: index)
    }

    /// Removes segments.
    mutating func retire(_ numbers: [UInt32]) {
        mains.removeAll { numbers.contains($0.number) }
        sides.removeAll { numbers.contains($0.segment.number) }
    }

    /// Undoes what failed commits adopted and retired. Keeps a segment that was started after `published`.
    mutating func takeBack(to published: LiveSet) {
        let last = published.mains.last?.number ?? 0
        // Those in this set may be open for writing.
        let kept = published.mains.map { main in mains.last { $0.number == main.number } ?? main }
        mains = kept + mains.filter { $0.number > last }
        sides = published.sides
    }

    /// Returns the set as a start frame lists it, by number: all segments, the newest main one with the end
    /// of the log.
    package func listed(to end: LogEnd) -> [StartPayload.LiveSegment] {
        var list = mains.map { segment in
            segment.number == end.segment
                ? StartPayload.LiveSegment(
                    number: segment.number, kind: .main, end: end.offset, chain: end.chain)
                : StartPayload.LiveSegment(
                    number: segment.number, kind: .main, end: segment.knownEnd ?? 0,
                    chain: segment.sealedChain)
        }
        list += sides.map {
            StartPayload.LiveSegment(
                number: $0.segment.number, kind: .side, end: $0.end, chain: $0.chain)
        }
        return list.sorted { $0.number < $1.number }
    }

    /// Returns the bytes of content.
    func bytes(to end: LogEnd) -> UInt64 {
        mains.reduce(0) { $0 + ($1.number == end.segment ? end.offset : $1.knownEnd ?? 0) }
            + sides.reduce(0) { $0 + $1.end }
    }
}
