// What a store held after each of its commits, as far as somebody looked, to be compared with what it says of it later.

import CairnStore
import CairnTestSupport

@testable import CairnLog

struct PastContents {
    /// The export of the state after a commit.
    private(set) var texts: [UInt64: String] = [:]

    /// Looks at the newest state.
    mutating func note(_ store: LogStore) throws {
        let snapshot = try store.snapshot()
        texts[snapshot.commit] = try Self.text(store, snapshot)
    }

    /// Forgets commits that are lost.
    mutating func cut(to last: UInt64) { texts = texts.filter { $0.key <= last } }

    static func text(_ store: LogStore, _ snapshot: any StoreSnapshot) throws -> String {
        var bytes: [UInt8] = []
        try store.export(of: snapshot) { bytes.append(contentsOf: $0) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// What is wrong with the states that are kept; all are looked at, in an order of their own.
    func problems(
        _ store: LogStore, _ random: inout RandomSource, most: Int = .max
    ) throws -> [String] {
        guard let bounds = try store.pastStateBounds() else { return ["no past states are kept"] }
        var problems: [String] = []
        var numbers = Array(bounds.horizon...bounds.last)
        if random.oneIn(2) { numbers.shuffle(using: &random) }
        let known = texts.keys.sorted()
        for number in numbers.prefix(most) {
            do {
                let snapshot = try store.snapshot(at: number)
                let text = try Self.text(store, snapshot)
                if snapshot.commit != number { problems.append("\(snapshot.commit) for \(number)") }
                // Between two steps there is what is not seen, like compaction; one commit at most shows.
                let possible = [known.last { $0 <= number }, known.first { $0 >= number }]
                    .compactMap { $0.flatMap { texts[$0] } }
                if let exact = texts[number] {
                    if text != exact { problems.append("commit \(number) of \(bounds) differs") }
                } else if possible.count == 2, !possible.contains(text) {
                    problems.append("commit \(number) of \(bounds) is like none beside it")
                }
            } catch {
                problems.append("commit \(number) of \(bounds): \(error)")
            }
        }
        for number in [bounds.horizon - 1, bounds.last + 1] where number > 0 {
            let code = Self.refusal(store, number)
            if code != .pastStateUnavailable {
                problems.append("commit \(number) of \(bounds) is not refused, but \(code as Any)")
            }
        }
        return problems
    }

    /// Why a state is not given.
    private static func refusal(_ store: LogStore, _ number: UInt64) -> StoreError.Code? {
        do {
            _ = try store.snapshot(at: number)
            return nil
        } catch {
            return error.code
        }
    }
}
