// Commit → position of its changes, for the retained history.
//
// Two cells for each commit after the origin: the place of its changes frame, and the bytes of all its parts;
// zeros for a commit that changed no object. States share the pages like those of every table.
//
// Invariants: HY1: it has an entry for each commit after the horizon that has changes, and no other. Its
// places are in segments of the state.
// Threads: a value; its pages change only in the commit that allocated them (ST1).

import CairnFormat
import CairnStore

/// The position of a commit's changes.
struct HistoryFrame: Sendable, Equatable {
    /// The frame of the first part; the others follow it.
    let place: Place
    /// The size of the frames of all parts, in bytes.
    let length: UInt64
}

/// The retained changes.
struct HistoryIndex: Sendable {
    private(set) var cells = RadixArray()
    /// The commit before the one of the first cells.
    private(set) var origin: UInt64 = 0
    /// The number of commits with changes.
    private(set) var count = 0
    /// The size of their frames, in bytes.
    private(set) var bytes: UInt64 = 0

    /// The number of commits that it can index.
    static let span: UInt64 = 1 << 31

    init() {}

    /// An empty index after a commit.
    init(behind origin: UInt64) { self.origin = origin }

    /// Returns the changes of a commit.
    subscript(_ commit: UInt64) -> HistoryFrame? {
        guard let index = index(commit) else { return nil }
        return frame(index)
    }

    private func frame(_ index: UInt32) -> HistoryFrame? {
        let place = cells[index]
        guard place != 0 else { return nil }
        return HistoryFrame(
            place: Place(
                segment: UInt32(truncatingIfNeeded: place >> 32),
                offset8: UInt32(truncatingIfNeeded: place)), length: cells[index | 1])
    }

    private func index(_ commit: UInt64) -> UInt32? {
        guard commit > origin, commit - origin <= Self.span else { return nil }
        return UInt32(truncatingIfNeeded: (commit - origin - 1) << 1)
    }

    /// Adds the changes of a commit; false if it is too far after the first one.
    mutating func set(_ commit: UInt64, _ frame: HistoryFrame, in pages: inout PageTransaction)
        -> Bool
    {
        guard let index = index(commit) else { return false }
        if let before = self.frame(index) {
            bytes -= min(bytes, before.length)
        } else {
            count += 1
        }
        bytes += frame.length
        put(index, frame, in: &pages)
        return true
    }

    private mutating func put(
        _ index: UInt32, _ frame: HistoryFrame, in pages: inout PageTransaction
    ) {
        cells.set(
            index, UInt64(frame.place.segment) << 32 | UInt64(frame.place.offset8), in: &pages)
        cells.set(index | 1, frame.length, in: &pages)
    }

    /// Returns the first commit with changes after another one, and their place.
    func next(after commit: UInt64) -> (commit: UInt64, frame: HistoryFrame)? {
        let behind = max(commit, origin) - origin
        guard behind < Self.span else { return nil }
        var index = UInt32(truncatingIfNeeded: behind << 1)
        while let written = cells.written(from: index) {
            index = written & ~1
            repeat {
                if let frame = frame(index) {
                    return (origin + UInt64(index >> 1) + 1, frame)
                }
                if index == .max - 1 { return nil }
                index += 2
            } while index & 511 != 0
        }
        return nil
    }

    /// Returns the last commit with changes up to another one, and their place.
    ///
    /// - Complexity: O(commits without changes between them).
    func last(through commit: UInt64) -> (commit: UInt64, frame: HistoryFrame)? {
        guard count > 0, commit > origin else { return nil }
        var index = UInt32(truncatingIfNeeded: (min(commit - origin, Self.span) - 1) << 1)
        while true {
            if let frame = frame(index) { return (origin + UInt64(index >> 1) + 1, frame) }
            if index == 0 { return nil }
            index -= 2
        }
    }

    /// Calls the closure with each commit that has changes, in ascending order, until it returns false.
    func forEach(_ body: (UInt64, HistoryFrame) -> Bool) {
        var commit = origin
        while let next = next(after: commit) {
            if !body(next.commit, next.frame) { return }
            commit = next.commit
        }
    }

    /// Drops the changes up to a commit; returns the number of commits that had some.
    ///
    /// - Complexity: O(number of dropped entries).
    mutating func drop(through horizon: UInt64, in pages: inout PageTransaction) -> Int {
        guard horizon > origin else { return 0 }
        let before = count
        if next(after: horizon) == nil {
            removeAll(behind: horizon, in: &pages)
            return before
        }
        var commit = origin
        while let next = next(after: commit), next.commit <= horizon {
            commit = next.commit
            guard let index = index(commit) else { break }
            bytes -= min(bytes, next.frame.length)
            count -= 1
            cells.set(index, 0, in: &pages)
            cells.set(index | 1, 0, in: &pages)
        }
        let dropped = before - count
        move(to: horizon, in: &pages)
        return dropped
    }

    /// Releases the pages of dropped changes, once there are more of them than of the rest.
    private mutating func move(to horizon: UInt64, in pages: inout PageTransaction) {
        guard horizon - origin > 4096 + 4 * UInt64(count) else { return }
        var last = horizon
        var moved = HistoryIndex(behind: horizon)
        while let next = next(after: last) {
            // The distance to the new origin is shorter.
            _ = moved.set(next.commit, next.frame, in: &pages)
            last = next.commit
        }
        cells.removeAll(in: &pages)
        self = moved
    }

    /// Drops everything.
    mutating func removeAll(behind horizon: UInt64, in pages: inout PageTransaction) {
        cells.removeAll(in: &pages)
        self = HistoryIndex(behind: horizon)
    }

    /// All retained changes.
    var changes: [UInt64: HistoryFrame] {
        var all: [UInt64: HistoryFrame] = [:]
        forEach { commit, frame in
            all[commit] = frame
            return true
        }
        return all
    }

    // MARK: Checkpoints

    /// An index with the cells of a checkpoint.
    ///
    /// - Parameter isRight: returns whether a commit and the place of its changes are valid.
    init?(
        _ cells: RadixArray, origin: UInt64, isRight: (UInt64, HistoryFrame) -> Bool
    ) {
        guard origin < FormatLimits.maximumLSN else { return nil }
        self.cells = cells
        self.origin = origin
        var commit = origin
        while let next = next(after: commit) {
            guard isRight(next.commit, next.frame), next.frame.length < 1 << 40 else { return nil }
            count += 1
            bytes += next.frame.length
            commit = next.commit
        }
    }
}
