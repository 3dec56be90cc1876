// Pictures of the files of a store in a folder, as a strip of segments.
//
// A store that cannot be opened has segments too: then their live part is unknown.
//
// Threads: one.

import CairnInspection
import CairnLog
import CairnModel
import CairnPictures
import CairnStore

/// Creates strips of segments.
enum LogPicture {
    /// Returns the strip of a store in a folder.
    ///
    /// - Parameters:
    ///   - store: the same store, if it can be opened.
    ///   - damage: additional information about damaged segments, by number.
    static func strip(of folder: String, _ store: LogStore?, damage: [UInt32: String] = [:]) throws
        -> LogStrip
    {
        try strip(of: try LogStore.status(at: folder), store, damage: damage)
    }

    /// Returns the strip of a store in a folder, from the status of its files.
    static func strip(
        of status: StoreStatus, _ store: LogStore?, damage: [UInt32: String] = [:]
    ) throws -> LogStrip {
        let live = Dictionary(
            try store?.statistics().segments.map { ($0.number, $0.liveBytes) } ?? [],
            uniquingKeysWith: { $1 })
        var damage = damage
        for error in status.damage {
            guard let segment = error.context.segment.map({ UInt32(clamping: $0) }) else {
                continue
            }
            if damage[segment] == nil { damage[segment] = Failure(error)?.message }
        }
        var segments = status.segments.map { segment in
            LogStrip.Segment(
                UInt64(segment.number), kind(of: segment.kind), bytes: segment.bytes,
                liveBytes: live[segment.number],
                remark: segment.created.map { "made \(PlainText.value(.date($0)))" },
                problem: segment.problem ?? damage[segment.number])
        }
        segments += status.checkpoints.map {
            .init(
                $0.commit, .checkpoint, bytes: UInt64($0.bytes), liveBytes: nil,
                remark: $0.problem.map { "not usable: \($0)" })
        }
        return LogStrip(segments)
    }

    private static func kind(of kind: StoreStatus.Segment.Kind) -> LogStrip.Segment.Kind {
        switch kind {
        case .main: .main
        case .side: .side
        case .held: .held
        case .retired, .unfinished, .foreign: .retired
        }
    }
}
