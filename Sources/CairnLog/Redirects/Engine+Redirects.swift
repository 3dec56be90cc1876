// The engine's part in redirects.                                                        Format 78
//
// The first time, a segment is started whose header declares that there may be redirects (F-785): from then
// on, a version without support for them may read the store, but does not write to it, as it would lose them.

import CairnFormat
import CairnModel
package import CairnStore

extension Engine {
    /// Starts a segment which declares that it and all later ones may contain redirects, unless the newest
    /// segment does already.
    package func allowRedirects() throws(StoreError) {
        try withLease { turn throws(StoreError) in
            repair(&turn)
            try checkWritable(turn)
            if turn.segments.current.header.flags.allowsRedirects { return }
            try beginSegment(&turn, adding: .redirects)
        }
    }

    /// Checks all redirects of a state, and reports those that contradict its objects.          RD1, RD2, RD3
    func checkRedirects(_ state: EngineState, _ report: inout StoreCheckReport) {
        guard let redirects = state.redirects else { return }
        let live = Set(state.segments.all.map(\.number))
        for (key, entry) in redirects.entries.inKeyOrder() {
            report.redirects += 1
            func find(_ words: String) {
                report.find(
                    .damaged(
                        "object \(key.number) of hierarchy \(key.tree) \(words)",
                        segment: entry.segment))
            }
            if !live.contains(entry.segment) {
                find("is redirected by a record in a retired segment (F-786, RD3)")
            }
            guard entry.target != 0, let tree = state.catalog.treeIndex(id: key.tree) else {
                continue
            }
            if max(key.number, entry.target) >= state.nextNumbers[tree] {
                find("is redirected from or to a number that no object ever had (F-787)")
            }
            if !state.directories[tree][key.number].isEmpty {
                find("exists, but is redirected to another one (F-783, RD1)")
            }
            var (next, steps) = (entry.target, 0)
            while next != 0, steps <= redirects.mostSteps {
                next = redirects[.init(tree: key.tree, next)]?.target ?? 0
                steps += 1
            }
            if next != 0 { find("is redirected in a circle (F-787, RD2)") }
        }
    }
}
