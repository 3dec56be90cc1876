// The objects of a batch's earlier rows, if the batch is executed in parts.
//
// Invariants: what a part finds counts once its owner says so: a part may be carried out several times.
// Threads: the holder of the turn, and its owner between two requests.

/// What a part of a batch must know about the earlier parts.
package final class EarlierRows {
    /// The objects that rows were about.
    private(set) var touched = NumberSet()
    /// Whether a row has named an object.
    package private(set) var namesAny = false
    /// Who is missing, if that is known: then nobody looks for them.
    package var missing: [UInt32]?
    /// Whether it is noted which objects rows are about.
    let tracks: Bool
    /// Whether rows of the part that was at its end last waited for targets that were not there when they came.
    package private(set) var waits = false
    private var found: (touched: NumberSet, namesAny: Bool)?

    package init(tracks: Bool) { self.tracks = tracks }

    /// Whether a row was about an object.
    package func touches(_ number: UInt32) -> Bool { touched.contains(number) }

    /// A part is at its end.
    func note(_ touched: NumberSet, namesAny: Bool, waits: Bool) {
        found = (touched, namesAny)
        self.waits = waits
    }

    /// The part that was at its end last counts.
    package func accept() {
        guard let found else { return }
        touched = found.touched
        namesAny = namesAny || found.namesAny
        self.found = nil
    }
}
