// What is known about a store that is only partly available.
//
// A store that lies elsewhere has requests carried out by an engine in memory, which holds what the request touches. What that
// is comes out on the way: a row, a key, or those that lead to an object, of which nothing is known yet, is noted here as
// needed. A commit that has asked for such a thing ends in vain. What it needed is brought, and it is made again.
//
// Invariants: a commit that has asked for nothing unknown has decided what it would have decided with the whole store.
// Threads: the holder of the turn.

import CairnStore

/// Which parts of a store are available, and which missing ones were requested.
package final class PartialKnowledge: @unchecked Sendable {
    // It is used by the holder of the turn alone, and by its owner between two requests.

    /// The rows that lead to an object by one reference.
    package struct Reference: Hashable, Sendable {
        /// As an index of the catalog's references.
        package let reference: Int
        package let target: UInt32

        package init(reference: Int, target: UInt32) {
            self.reference = reference
            self.target = target
        }
    }

    /// The row that has a key.
    package struct Key: Hashable, Sendable {
        /// As an index of the catalog's unique indexes.
        package let unique: Int
        /// Its bytes, as `KeyBuffer` has them.
        package let bytes: [UInt8]

        package init(unique: Int, bytes: [UInt8]) {
            self.unique = unique
            self.bytes = bytes
        }

        /// An array hashes its bytes one by one.
        package func hash(into hasher: inout Hasher) {
            hasher.combine(unique)
            bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        }
    }

    /// What a request needs.
    package struct Needs: Sendable {
        /// By tree: numbers whose rows are needed, if there are any.
        package var rows: [Int: Set<UInt32>] = [:]
        package var references: Set<Reference> = []
        package var keys: Set<Key> = []
        /// By tree: how many numbers for new rows.
        package var numbers: [Int: Int] = [:]

        package init() {}

        package var isEmpty: Bool {
            rows.isEmpty && references.isEmpty && keys.isEmpty && numbers.isEmpty
        }
    }

    /// The number that the next commit has where the whole store is, or one before it that nobody has seen.
    package var commit: UInt64?
    /// What came before, if requests are parts of a batch.
    package var earlier: EarlierRows?
    /// What was asked for since it was last taken.
    private var needs = Needs()
    /// By tree: numbers that have no row.
    private var absent: [Int: Set<UInt32>] = [:]
    private var references: Set<Reference> = []
    private var keys: Set<Key> = []
    /// By tree: numbers for new rows; nil: any that are free.
    private var numbers: [Int: [UInt32]] = [:]
    private var taken: [Int: Int] = [:]

    package init() {}

    // MARK: Asking

    /// A commit begins: what one before it took and did not use is free again.
    func begin() { taken = [:] }

    /// Somebody has asked for a row that is not here.
    func miss(tree: Int, number: UInt32) {
        guard number != 0, absent[tree]?.contains(number) != true else { return }
        needs.rows[tree, default: []].insert(number)
    }

    /// Somebody asks for all that lead to an object.
    func ask(reference: Int, target: UInt32) {
        let asked = Reference(reference: reference, target: target)
        if !references.contains(asked) { needs.references.insert(asked) }
    }

    /// Somebody asks who has a key.
    func ask(unique: Int, _ bytes: UnsafeRawBufferPointer) {
        let asked = Key(unique: unique, bytes: Array(bytes))
        if !keys.contains(asked) { needs.keys.insert(asked) }
    }

    /// A number for a new row; nil if none is left, or the tree has no numbers that are given from elsewhere.
    func takeNumber(tree: Int) -> UInt32? {
        guard let left = numbers[tree] else { return nil }
        let place = taken[tree, default: 0]
        taken[tree] = place + 1
        if place < left.count { return left[place] }
        needs.numbers[tree] = place + 1 - left.count
        return nil
    }

    var isLacking: Bool { !needs.isEmpty }

    /// What ends a commit that has asked for something unknown.
    static var lacking: StoreError {
        StoreError(.unusable, "the request concerns more of the store than is here")
    }

    // MARK: Bringing

    /// What was asked for, which is forgotten by that; numbers that were taken are free again.
    package func takeNeeds() -> Needs {
        defer {
            needs = Needs()
            taken = [:]
        }
        return needs
    }

    /// Notes what was brought, all that there is of it.
    package func note(_ brought: Needs) {
        for (tree, numbers) in brought.rows { absent[tree, default: []].formUnion(numbers) }
        references.formUnion(brought.references)
        keys.formUnion(brought.keys)
    }

    /// Gives numbers for new rows of a tree.
    package func give(_ numbers: some Sequence<UInt32>, tree: Int) {
        self.numbers[tree, default: []] += numbers
    }

    /// The numbers that new rows have got; they are given to nobody else.
    package func spend() {
        for (tree, count) in taken {
            guard let left = numbers[tree] else { continue }
            numbers[tree] = Array(left.dropFirst(count))
        }
        taken = [:]
    }
}
