// What is known about a store that is only partly available.
//
// An engine in memory executes the requests of a store that is located elsewhere, and contains what the
// request touches. That shows during the request: a row, a key, or the references to an object, of which
// nothing is known yet, is noted here as needed. A commit that requested any of this fails. What it needed is
// brought, and the commit is repeated.
//
// Invariants: a commit that requested nothing unknown has decided as it would have with the whole store.
// Threads: the holder of the turn.

import CairnStore

/// Which parts of a store are available, and which missing ones were requested.
package final class PartialKnowledge: @unchecked Sendable {
    // Used only by the holder of the write lock, and by its owner between two requests.

    /// The rows that refer to an object by one reference.
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
        /// Its bytes, as in `KeyBuffer`.
        package let bytes: [UInt8]

        package init(unique: Int, bytes: [UInt8]) {
            self.unique = unique
            self.bytes = bytes
        }

        /// Hashes the bytes at once: an array hashes them one by one.
        package func hash(into hasher: inout Hasher) {
            hasher.combine(unique)
            bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        }
    }

    /// What a request needs.
    package struct Needs: Sendable {
        /// By tree: numbers whose rows are needed, if they exist.
        package var rows: [Int: Set<UInt32>] = [:]
        package var references: Set<Reference> = []
        package var keys: Set<Key> = []
        /// By tree: how many numbers for new rows are needed.
        package var numbers: [Int: Int] = [:]

        package init() {}

        package var isEmpty: Bool {
            rows.isEmpty && references.isEmpty && keys.isEmpty && numbers.isEmpty
        }
    }

    /// The number of the next commit in the whole store, or an earlier one that was never visible.
    package var commit: UInt64?
    /// The earlier rows, if requests are parts of a batch.
    package var earlier: EarlierRows?
    /// What was requested since it was last taken.
    private var needs = Needs()
    /// By tree: numbers that have no row.
    private var absent: [Int: Set<UInt32>] = [:]
    private var references: Set<Reference> = []
    private var keys: Set<Key> = []
    /// By tree: numbers for new rows; nil: any free numbers.
    private var numbers: [Int: [UInt32]] = [:]
    private var taken: [Int: Int] = [:]

    package init() {}

    // MARK: Asking

    /// Begins a commit: numbers that a previous one took and did not use are free again.
    func begin() { taken = [:] }

    /// Notes that a missing row was requested.
    func miss(tree: Int, number: UInt32) {
        guard number != 0, absent[tree]?.contains(number) != true else { return }
        needs.rows[tree, default: []].insert(number)
    }

    /// Notes that all rows that refer to an object were requested.
    func ask(reference: Int, target: UInt32) {
        let asked = Reference(reference: reference, target: target)
        if !references.contains(asked) { needs.references.insert(asked) }
    }

    /// Notes that the row with a key was requested.
    func ask(unique: Int, _ bytes: UnsafeRawBufferPointer) {
        let asked = Key(unique: unique, bytes: Array(bytes))
        if !keys.contains(asked) { needs.keys.insert(asked) }
    }

    /// Returns a number for a new row; nil if none is left, or the tree's numbers are not issued elsewhere.
    func takeNumber(tree: Int) -> UInt32? {
        guard let left = numbers[tree] else { return nil }
        let place = taken[tree, default: 0]
        taken[tree] = place + 1
        if place < left.count { return left[place] }
        needs.numbers[tree] = place + 1 - left.count
        return nil
    }

    var isLacking: Bool { !needs.isEmpty }

    /// The error that ends a commit that requested something unknown.
    static var lacking: StoreError {
        StoreError(.unusable, "the request concerns more of the store than is here")
    }

    // MARK: Bringing

    /// Returns and clears what was requested; numbers that were taken are free again.
    package func takeNeeds() -> Needs {
        defer {
            needs = Needs()
            taken = [:]
        }
        return needs
    }

    /// Notes what was brought, which is complete.
    package func note(_ brought: Needs) {
        for (tree, numbers) in brought.rows { absent[tree, default: []].formUnion(numbers) }
        references.formUnion(brought.references)
        keys.formUnion(brought.keys)
    }

    /// Adds numbers for new rows of a tree.
    package func give(_ numbers: some Sequence<UInt32>, tree: Int) {
        self.numbers[tree, default: []] += numbers
    }

    /// Removes the numbers that new rows have got, so that they are not issued again.
    package func spend() {
        for (tree, count) in taken {
            guard let left = numbers[tree] else { continue }
            numbers[tree] = Array(left.dropFirst(count))
        }
        taken = [:]
    }
}
