// The objects of a batch's earlier rows, if the batch is executed in parts.
//
// Invariants: what a part finds counts once its owner accepts it: a part may be executed several times.
// Threads: the holder of the turn, and its owner between two requests.

/// What a part of a batch must know about the earlier parts.
package final class EarlierRows {
    /// The objects that rows concerned.
    private(set) var touched = NumberSet()
    /// Whether a row has named an object.
    package private(set) var namesAny = false
    /// The missing objects, if they are known: then they are not searched for.
    package var missing: [UInt32]?
    /// Whether the objects that rows concern are noted.
    let tracks: Bool
    /// Whether rows of the part that ended last waited for targets that did not exist when they came.
    package private(set) var waits = false
    private var found: (touched: NumberSet, namesAny: Bool)?

    package init(tracks: Bool) { self.tracks = tracks }

    /// Whether a row concerned an object.
    package func touches(_ number: UInt32) -> Bool { touched.contains(number) }

    /// Notes the result of a part that has ended.
    func note(_ touched: NumberSet, namesAny: Bool, waits: Bool) {
        found = (touched, namesAny)
        self.waits = waits
    }

    /// Makes the part that ended last count.
    package func accept() {
        guard let found else { return }
        touched = found.touched
        namesAny = namesAny || found.namesAny
        self.found = nil
    }
}
