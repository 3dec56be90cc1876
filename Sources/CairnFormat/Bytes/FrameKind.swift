// The kinds of frames.                                                         Format 30, F-310

/// The kinds of frames. The raw values never change; 0 is never valid.
package enum FrameKind: UInt8, Sendable, CaseIterable {
    /// The first frame of a segment: live set, counters, place of the schema.
    case start = 1
    /// The schema, as JSON.
    case schema = 2
    /// Rows of one entity.
    case block = 3
    /// New values of some columns of a block, for all of its rows.
    case patch = 4
    /// Rows that are no longer live, by place.
    case deaths = 5
    /// A piece of a large value.
    case value = 6
    /// The changes of a commit, for the history.
    case changes = 7
    /// Reserved: object numbers issued early.
    case reserve = 8
    /// Frames of side segments become part of the commit.
    case adopt = 9
    /// Segments leave the live set.
    case retire = 10
    /// The store's metadata, as JSON.
    case metadata = 11
    /// The end of a commit.
    case commit = 12
    /// The store was closed cleanly.
    case close = 13
    /// Objects whose ids refer to other objects.
    case redirects = 14

    /// Whether version 1 defines the payload.
    package var isDefined: Bool {
        switch self {
        case .start, .schema, .block, .patch, .deaths, .value, .changes, .adopt, .retire,
            .metadata, .commit, .close, .redirects:
            true
        case .reserve: false
        }
    }
}
