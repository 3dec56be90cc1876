// Adds redirects to a commit.                                                            Format 78

import CairnFormat
import CairnStore
import Synchronization

/// An object whose id is redirected to another one.
struct Redirection: Sendable {
    /// The tree of both, as an index of the catalog.
    let tree: Int
    let number: UInt32
    /// The number of the other object; 0 if there is none any longer, because the object exists again.
    let target: UInt32
}

extension CommitBuilder {
    /// Whether the segment that the commit is written to may contain redirects.
    var allowsRedirects: Bool { log.segment.header.flags.allowsRedirects }

    /// Redirects objects that the commit deletes, and ids that it leaves unused, to others that exist after
    /// it; or ends the redirects of objects that it creates again. Each is named once.
    mutating func redirect(_ redirections: [Redirection]) throws(StoreError) {
        if redirections.isEmpty { return }
        precondition(allowsRedirects, "a segment declares its redirects")
        var entries: [RedirectTable.Key: RedirectTable.Entry] = [:]
        for one in redirections {
            let key = RedirectTable.Key(tree: catalog.trees[one.tree].id, one.number)
            let turn = state.redirects?[key]?.turn ?? 0
            guard turn < .max else {
                throw StoreError(.invalidRequest, "an object was redirected too often")
            }
            entries[key] = RedirectTable.Entry(
                target: one.target, turn: turn + 1, segment: log.segment.number)
        }
        for payload in entries.payloads {
            try log.append(.redirects, flags: FrameHeader.skippable) {
                writer throws(StoreError) in payload.encode(to: &writer)
            }
        }
        state.redirects = RedirectTable.adding(entries, to: state.redirects)
        // Before another thread can see it.
        tools.mayRedirect.store(true, ordering: .relaxed)
        redirected += redirections.filter { $0.target != 0 }
        hasChanges = true
    }

    /// Adds the redirects that compaction has rewritten, unless there are newer ones.
    mutating func adopt(_ moved: [RedirectTable.Key: RedirectTable.Entry]) {
        let inForce = moved.filter { state.redirects?[$0.key]?.turn == $0.value.turn }
        state.redirects = RedirectTable.adding(inForce, to: state.redirects)
    }

    /// Whether a current redirect is in one of some segments.
    func hasRedirects(in segments: Set<UInt32>) -> Bool {
        var isThere = false
        state.redirects?.forEach { _, entry in
            if segments.contains(entry.segment) { isThere = true }
        }
        return isThere
    }
}
