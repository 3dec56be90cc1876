// Numbers for new objects, allocated from the database in blocks.
//
// A number is given once. What of the last block is not used goes back when the store is closed, unless others have taken some
// meanwhile: that is lost, as what a program has that ends without closing. There are four billion of each hierarchy.
//
// Threads: any. Nobody waits for the network with the lock.

import CairnStore
import Synchronization

/// The numbers that this process can assign to new objects.
final class NumberBlocks: Sendable {
    /// How many are taken at first, and at most if no more are wanted: twice as many each time, so that who opens the store for
    /// a few objects loses few.
    private static let fewest = 16
    private static let most = 1024
    /// How long closing a store may take for those that are left.
    private static let patience = Duration.seconds(2)
    /// By hierarchy.
    private let free = Mutex<[UInt32: [Range<UInt32>]]>([:])
    /// By hierarchy: how many are taken next.
    private let sizes = Mutex<[UInt32: Int]>([:])

    /// Takes so many numbers of each hierarchy, rising.
    ///
    /// - Parameter connection: has no transaction.
    func take(_ counts: [UInt32: Int], _ connection: PostgresConnection, _ core: StoreCore)
        throws(StoreError) -> [UInt32: [UInt32]]
    {
        var taken: [UInt32: [UInt32]] = [:]
        for (hierarchy, count) in counts.sorted(by: { $0.key < $1.key }) where count > 0 {
            taken[hierarchy] = takeFree(hierarchy, count)
            let missing = count - (taken[hierarchy]?.count ?? 0)
            if missing == 0 { continue }
            do throws(StoreError) {
                let size = max(missing, nextSize(hierarchy))
                let block = try fetchBlock(hierarchy, size, connection, core)
                let split = block.lowerBound + UInt32(missing)
                taken[hierarchy]? += block.lowerBound..<split
                giveBack(hierarchy, split..<block.upperBound)
            } catch {
                giveBack(taken)
                throw error
            }
        }
        return taken
    }

    /// Gives back numbers that no object has got.
    func giveBack(_ numbers: [UInt32: [UInt32]]) {
        for (hierarchy, numbers) in numbers {
            var rest = numbers[...]
            while let first = rest.first {
                // A batch may leave a million that follow each other.
                var end = first + 1
                rest = rest.dropFirst()
                while rest.first == end {
                    end += 1
                    rest = rest.dropFirst()
                }
                giveBack(hierarchy, first..<end)
            }
        }
    }

    /// Gives what is left of the last blocks back to the database, as far as nobody has taken more.
    func handBack(_ core: StoreCore) {
        let left = free.withLock { free in
            defer { free = [:] }
            return free.compactMap { hierarchy, ranges in ranges.last.map { (hierarchy, $0) } }
        }
        if left.isEmpty { return }
        var (hierarchies, firsts, ends) = (
            SQLArray(of: .int64), SQLArray(of: .int64), SQLArray(of: .int64)
        )
        for (hierarchy, range) in left {
            hierarchies.append(number: Int64(hierarchy))
            firsts.append(number: Int64(range.lowerBound))
            ends.append(number: Int64(range.upperBound))
        }
        let statement = Statement(
            """
            UPDATE \(core.layout.sql(.numbers)) AS n SET next = v.first \
            FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS v(hierarchy, first, behind) \
            WHERE n.hierarchy = v.hierarchy AND n.next = v.behind
            """, [.array(hierarchies), .array(firsts), .array(ends)])
        // Who cannot do that soon loses some numbers.
        let bound = CallBound.within(Self.patience)
        guard let connection = try? core.pool.borrow(bound) else { return }
        _ = try? connection.run(statement, bound: bound)
        core.pool.giveBack(connection)
    }

    private func nextSize(_ hierarchy: UInt32) -> Int {
        sizes.withLock { sizes in
            let size = sizes[hierarchy] ?? Self.fewest
            sizes[hierarchy] = min(size * 2, Self.most)
            return size
        }
    }

    private func takeFree(_ hierarchy: UInt32, _ count: Int) -> [UInt32] {
        free.withLock { free in
            var taken: [UInt32] = []
            var ranges = free[hierarchy] ?? []
            while taken.count < count, let first = ranges.first {
                let part = first.prefix(count - taken.count)
                taken += part
                if part.count == first.count {
                    ranges.removeFirst()
                } else {
                    ranges[0] = part.endIndex..<first.upperBound
                }
            }
            free[hierarchy] = ranges
            return taken
        }
    }

    private func giveBack(_ hierarchy: UInt32, _ range: Range<UInt32>) {
        if range.isEmpty { return }
        free.withLock { free in
            var ranges = free[hierarchy] ?? []
            var range = range
            var place = ranges.firstIndex { $0.lowerBound >= range.upperBound } ?? ranges.count
            // Those that touch are one.
            if place < ranges.count, ranges[place].lowerBound == range.upperBound {
                range = range.lowerBound..<ranges.remove(at: place).upperBound
            }
            if place > 0, ranges[place - 1].upperBound == range.lowerBound {
                place -= 1
                range = ranges.remove(at: place).lowerBound..<range.upperBound
            }
            ranges.insert(range, at: place)
            free[hierarchy] = ranges
        }
    }

    private func fetchBlock(
        _ hierarchy: UInt32, _ count: Int, _ connection: PostgresConnection, _ core: StoreCore
    ) throws(StoreError) -> Range<UInt32> {
        try StoreCore.sql { () throws(SQLFailure) in
            let result = try connection.run(
                "UPDATE \(core.layout.sql(.numbers)) SET next = next + $2 WHERE hierarchy = $1 RETURNING next",
                [.int64(Int64(hierarchy)), .int64(Int64(count))], bound: core.bound)
            guard result.rowCount == 1, let end = UInt32(exactly: try result.int64(0, 0)),
                end > count
            else {
                throw SQLFailure(
                    .unreadable, "the entity hierarchy has used up its four billion object numbers")
            }
            return end - UInt32(count)..<end
        }
    }
}
