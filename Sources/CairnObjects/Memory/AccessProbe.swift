// Whether what is read just now is being tracked.
//
// The library of observation does not say so. But while somebody tracks, it puts the key path of what is accessed into a
// set, and so hashes it; else it drops it at once. So a key path is accessed that notices when it is hashed. What it leaves
// in the set of whoever tracks belongs to the registrar of the object that is read, with which it goes.
//
// Threads: any. The count is one for all threads: that another one tracks meanwhile may be taken for this one, after which an
// access is registered in vain, and never the other way round.

import Observation
import Synchronization

enum AccessProbe {
    /// Whether the code around is tracked.
    ///
    /// - Parameter registrar: who keeps the access if it is.
    static func isTracking(_ registrar: ObservationRegistrar) -> Bool {
        let before = Witness.looks.load(ordering: .relaxed)
        registrar.access(Probe.only, keyPath: path)
        return Witness.looks.load(ordering: .relaxed) != before
    }

    private static let path: any KeyPath<Probe, Int> & Sendable = \Probe[Witness()]
}

/// What is accessed.
private final class Probe: Observable, Sendable {
    static let only = Probe()

    subscript(_ witness: Witness) -> Int { 0 }
}

/// A part of a key path that notices being looked at.
private struct Witness: Hashable, Sendable {
    static let looks = Atomic<Int>(0)

    static func == (left: Witness, right: Witness) -> Bool {
        looks.add(1, ordering: .relaxed)
        return true
    }

    func hash(into hasher: inout Hasher) { Self.looks.add(1, ordering: .relaxed) }
}
