// Which sync of the engine a sync is, told by what it would make durable.
//
// Tests that let one of them lie, as if the call were deleted, name it by this.

import CairnFormat

enum SyncSite: String, Sendable, CaseIterable {
    /// The folder the store's folder is in.
    case parent
    /// The folder, with a new name in it.
    case lockName, segmentName, checkpointName
    /// The folder, with names that are gone.
    case removedNames
    /// A new segment's header and start frame.
    case segmentStart
    /// Frames of commits.
    case commit
    /// The close frame.
    case close
    /// Zeros ahead of the log.
    case zeros
    /// A part that was cut off.
    case cut
    /// What was there already: a recovery makes sure of it.
    case rewritten
    case checkpoint
    /// Nothing that was not durable.
    case nothing

    init(namesOf state: DiskState) {
        for change in state.pendingNames {
            guard case .create(let name, _) = change, state.names[name] != nil else { continue }
            self =
                name == SegmentName.lock
                ? .lockName : SegmentName.number(in: name) == nil ? .checkpointName : .segmentName
            return
        }
        self = state.pendingNames.isEmpty ? .nothing : .removedNames
    }

    init(of file: DiskState.Content, _ name: String) {
        guard let last = file.pending.last else {
            self = .nothing
            return
        }
        if CheckpointName.commit(in: name) != nil {
            self = .checkpoint
            return
        }
        guard case .write(let offset, let bytes, let isSame) = last else {
            self = .cut
            return
        }
        if isSame, offset > 0 {
            self = .rewritten
        } else if offset == 0 {
            self = .segmentStart
        } else if bytes.count > 4, bytes[4] == FrameKind.close.rawValue {
            self = .close
        } else {
            self = bytes.allSatisfy { $0 == 0 } ? .zeros : .commit
        }
    }
}
