import CairnFormat
import CairnStore

extension OpenedLog {
    /// The segments that are no longer part of the store, but whose files exist: those kept for past states, and those that
    /// only the checkpoint needs.
    var retired: [RetiredSegment] {
        var retired: [RetiredSegment] = []
        for held in held {
            // Reading on from the checkpoint requires it, if it was retired after that.
            let isNeeded = base.map { held.retired > $0.commit } ?? false
            retired.append(
                RetiredSegment(
                    number: held.number, begun: held.begun, commit: held.retired,
                    lsn: isNeeded ? commitEnd.lsn : 0, bytes: held.bytes))
        }
        let held = Set(held.map(\.number))
        for segment in base?.segments.all ?? []
        where segments[segment.number] == nil && !held.contains(segment.number) {
            retired.append(
                RetiredSegment(
                    number: segment.number, begun: segment.header.commit, commit: 0,
                    lsn: commitEnd.lsn,
                    bytes: base?.end(of: segment) ?? 0))
        }
        return retired
    }
}
