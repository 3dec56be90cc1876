// What one thread of a writer has stored after each of its commits, known without looking at the store.
//
// Commit n of a thread does the same wherever and whenever it is done, given the seed and the commits before:
// so who knows how many commits returned knows what the store must hold.

import CairnModel
import CairnStore
import CairnTestSupport

/// The objects of one thread, and how its commits change them.
package struct WriterModel: Sendable {
    /// An object's values.
    package struct Values: Sendable, Equatable {
        package var value: Int64
        package var note: String
        package var next: String?
    }

    /// What a commit does.
    package enum Change: Sendable {
        case upsert([(key: String, values: Values)])
        /// All objects of the thread with a smaller value.
        case delete(below: Int64)
        case save(
            inserted: [(key: String, values: Values)], links: [(key: String, next: String?)],
            deleted: [String])
    }

    package let seed: UInt64
    package let thread: Int
    /// How many commits are in it.
    package private(set) var commits = 0
    /// The objects by key.
    package private(set) var rows: [String: Values] = [:]

    package init(seed: UInt64, thread: Int) {
        self.seed = seed
        self.thread = thread
    }

    /// The model after that many commits.
    package init(seed: UInt64, thread: Int, commits: Int) {
        self.init(seed: seed, thread: thread)
        for _ in 0..<commits { _ = advance() }
    }

    private func key(_ number: Int) -> String { "\(thread)-\(number)" }

    /// What the next commit does; the model has done it then.
    package mutating func advance() -> Change {
        commits += 1
        var random = RandomSource(
            seed: seed &+ UInt64(thread) &* 0x1_0000_0001 &+ UInt64(commits) &* 0x9e37_79b9)
        let stamp = Int64(commits) * 100
        switch Int.random(in: 0..<10, using: &random) {
        case 0:
            // Older objects first: what is left is what was written lately.
            let limit = stamp - Int64.random(in: 500...4000, using: &random)
            remove(Set(rows.filter { $0.value.value < limit }.keys))
            return .delete(below: limit)
        case 1, 2, 3: return save(stamp, &random)
        default: return upsert(stamp, &random)
        }
    }

    private mutating func upsert(_ stamp: Int64, _ random: inout RandomSource) -> Change {
        var upserted: [(key: String, values: Values)] = []
        let first = Int.random(in: 0..<60, using: &random)
        for index in 0..<Int.random(in: 1...(random.oneIn(6) ? 60 : 8), using: &random) {
            let key = key((first + index * 7) % 67)
            let length = random.oneIn(25) ? 900 : Int.random(in: 0...6, using: &random)
            let values = Values(
                value: stamp + Int64(index),
                note: (0..<length).map { "\($0 &* commits)" }.joined(separator: ","),
                // Relationships are none of a batch's business: what is there stays.
                next: rows[key]?.next)
            if upserted.contains(where: { $0.key == key }) { continue }
            rows[key] = values
            upserted.append((key, values))
        }
        return .upsert(upserted)
    }

    private mutating func save(_ stamp: Int64, _ random: inout RandomSource) -> Change {
        var inserted: [(key: String, values: Values)] = []
        for index in 0..<Int.random(in: 0...3, using: &random) {
            let key = key(100 + Int.random(in: 0..<40, using: &random))
            guard rows[key] == nil else { continue }
            let values = Values(value: stamp + Int64(index), note: "new \(index)", next: nil)
            rows[key] = values
            inserted.append((key, values))
        }
        let old = rows.keys.filter { key in !inserted.contains { $0.key == key } }.sorted()
        var links: [(key: String, next: String?)] = []
        for key in old where random.oneIn(12) {
            let next = random.oneIn(4) ? nil : rows.keys.sorted().randomElement(using: &random)
            rows[key]?.next = next
            links.append((key, next))
        }
        let targets = Set(rows.values.compactMap(\.next))
        let deleted = old.filter { key in
            !targets.contains(key) && !links.contains { $0.key == key } && random.oneIn(20)
        }
        remove(Set(deleted))
        return .save(inserted: inserted, links: links, deleted: deleted)
    }

    private mutating func remove(_ keys: Set<String>) {
        for key in keys { rows[key] = nil }
        for (key, values) in rows {
            if let next = values.next, keys.contains(next) { rows[key]?.next = nil }
        }
    }
}
