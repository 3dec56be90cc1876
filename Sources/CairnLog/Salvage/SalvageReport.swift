// What was recovered from a damaged store, and what was not.

public import CairnModel
public import FoundationEssentials

/// Options for a salvage.
public struct SalvageOptions: Sendable {
    /// How to write the new store, and options for the disks.
    public var store = LogStoreOptions()
    /// The model, for a store whose own model can no longer be read; otherwise it is ignored.
    public var schema: Schema?
    /// Whether the new store gets the identifier of the old one, so that URIs of its objects stay valid.
    ///
    /// Use it only if the new store replaces the old one: two stores with the same identifier cannot be distinguished. The
    /// numbers of objects are kept in any case.
    public var keepsIdentifier = false
    /// Whether to include commits after the end of the log. None of them was reported as successful, and opening the store
    /// would ignore them.
    public var takesUnpromised = false

    /// Creates options with default values.
    public init() {}
}

/// What a salvage has kept and what was lost.
public struct SalvageReport: Sendable {
    /// Bytes of a segment that could not be used.
    public struct Range: Sendable {
        /// The start offset in the file.
        public let start: UInt64
        /// The end offset in the file.
        public let end: UInt64
        /// Their content, if known: the kind of a frame, or nil for bytes between frames.
        public let kind: String?
        /// Why they could not be used.
        public let reason: String
    }

    /// The outcome for a segment.
    public struct Segment: Sendable {
        /// The segment's number.
        public let number: UInt32
        /// The size of the file in bytes; 0 if it is missing.
        public internal(set) var bytes: UInt64 = 0
        /// The problem with the file as a whole, if any.
        public internal(set) var problem: String?
        /// The number of frames that could be read.
        public internal(set) var frames: UInt64 = 0
        /// The number of frames that were found and could not be used.
        public internal(set) var skippedFrames: UInt64 = 0
        /// The ranges that could not be used; at most a thousand.
        public internal(set) var unusable: [Range] = []
        /// The number of bytes that could not be used.
        public internal(set) var unusableBytes: UInt64 = 0
        /// The number of rows kept from it.
        public internal(set) var rowsKept = 0
    }

    /// The outcome for the objects of an entity.
    public struct Entity: Sendable {
        /// The entity's name.
        public let name: String
        /// Whether it is an internal entity that the store created for a relationship.
        public let isHidden: Bool
        /// The number of objects in the new store.
        public internal(set) var kept = 0
        /// The number of objects known to have existed that are not in the new store. More may have been in unreadable
        /// bytes.
        public internal(set) var lost = 0
        /// The number of objects kept in an older version: the newest version is lost, or they may have been deleted.
        public internal(set) var older = 0
    }

    /// One item that was lost.
    public struct Loss: Sendable {
        /// The kind of item.
        public enum Kind: String, Sendable {
            /// An object.
            case row
            /// A value of an object that was kept without it.
            case value
            /// A reference to an object that does not exist.
            case reference
            /// An object whose unique key belongs to a newer object.
            case duplicate
        }

        /// The kind of item.
        public let kind: Kind
        /// The entity's name; nil if unknown.
        public let entity: String?
        /// The object's number; nil if unknown.
        public let number: UInt32?
        /// The property, or the properties of the key.
        public let key: String?
        /// The segment that contained it.
        public let segment: UInt32
        /// The offset of its block in the segment.
        public let offset: UInt64
        /// What happened.
        public let reason: String
    }

    /// The path of the new store.
    public internal(set) var destination = ""
    /// The identifier of the damaged store, if it could be read.
    public internal(set) var sourceIdentifier: UUID?
    /// The identifier of the new store.
    public internal(set) var identifier: UUID?
    /// The segments by number, including missing ones.
    public internal(set) var segments: [Segment] = []
    /// The entities in the order of the model, hidden ones last.
    public internal(set) var entities: [Entity] = []
    /// The individual losses; at most a thousand.
    public internal(set) var losses: [Loss] = []
    /// The number of losses.
    public internal(set) var lossCount = 0
    /// The number of values without which objects were kept.
    public internal(set) var valuesLost = 0
    /// The number of references that were cleared because their targets do not exist.
    public internal(set) var referencesCleared = 0
    /// The number of objects that were dropped in favor of a newer one with the same unique key.
    public internal(set) var duplicates = 0
    /// The number of older copies that were found live in addition to newer ones.
    public internal(set) var superseded = 0
    /// The number of commits that are partly lost.
    public internal(set) var damagedCommits: UInt64 = 0
    /// The maximum number of kept objects that lost bytes may have deleted; it cannot be determined.
    public internal(set) var possiblyResurrected = 0
    /// Bytes after the end of the log that contained nothing durable. They are not a loss.
    public internal(set) var bytesLeftBehind: UInt64 = 0
    /// The number of complete commits among them, which `SalvageOptions.takesUnpromised` would include.
    public internal(set) var unpromisedCommits = 0
    /// Whether the end of the log is known: the store was closed, or its mark record exists. Otherwise the last commits may
    /// be lost without a trace.
    public internal(set) var isEndKnown = true
    /// Whether bytes with unknown contents were lost.
    public internal(set) var hasUnknownLosses = false

    /// The number of objects in the new store, without those of hidden entities.
    public var rowsKept: Int { entities.reduce(0) { $0 + ($1.isHidden ? 0 : $1.kept) } }

    /// The number of objects known to be lost, without those of hidden entities.
    public var rowsLost: Int { entities.reduce(0) { $0 + ($1.isHidden ? 0 : $1.lost) } }

    /// Whether nothing is lost: the new store has the same contents as the old one.
    public var isWhole: Bool {
        lossCount == 0 && !hasUnknownLosses && isEndKnown && possiblyResurrected == 0
            && entities.allSatisfy { $0.lost == 0 && $0.older == 0 }
    }

    mutating func note(_ loss: Loss) {
        lossCount += 1
        if losses.count < 1000 { losses.append(loss) }
        switch loss.kind {
        case .row: break
        case .value: valuesLost += 1
        case .reference: referencesCleared += 1
        case .duplicate: duplicates += 1
        }
    }
}
