// What came out of a damaged store, and what did not.

public import CairnModel
public import FoundationEssentials

/// Choices for a salvage.
public struct SalvageOptions: Sendable {
    /// How the new store is written, and what the disks are.
    public var store = LogStoreOptions()
    /// The model, for a store whose own can no longer be read; else it is not looked at.
    public var schema: Schema?
    /// Whether the new store gets the identity of the old one, so that URIs of its objects go on meaning them.
    ///
    /// Choose it only if the new store takes the place of the old one: two stores of one identity cannot be told
    /// apart. The numbers of objects are kept in any case.
    public var keepsIdentifier = false
    /// Whether commits behind the end of the log are taken too. None of them was reported to have succeeded, and an
    /// opening store leaves them behind.
    public var takesUnpromised = false

    /// The defaults.
    public init() {}
}

/// What a salvage kept and what was lost.
public struct SalvageReport: Sendable {
    /// Bytes of a segment that could not be used.
    public struct Range: Sendable {
        /// Where they begin in the file.
        public let start: UInt64
        /// Where they end.
        public let end: UInt64
        /// What they were, as far as that can be told: the kind of a frame, or nil for bytes between frames.
        public let kind: String?
        /// What is wrong with them.
        public let reason: String
    }

    /// What became of a segment.
    public struct Segment: Sendable {
        /// The segment's number.
        public let number: UInt32
        /// The bytes of the file; 0 if it is missing.
        public internal(set) var bytes: UInt64 = 0
        /// What is wrong with the file as a whole.
        public internal(set) var problem: String?
        /// Frames that could be read.
        public internal(set) var frames: UInt64 = 0
        /// Frames that were found and could not be used.
        public internal(set) var skippedFrames: UInt64 = 0
        /// Where bytes could not be used; at most a thousand.
        public internal(set) var unusable: [Range] = []
        /// How many bytes could not be used.
        public internal(set) var unusableBytes: UInt64 = 0
        /// Rows that came from it.
        public internal(set) var rowsKept = 0
    }

    /// What became of the objects of an entity.
    public struct Entity: Sendable {
        /// The entity's name.
        public let name: String
        /// Whether the store made it for a relationship.
        public let isHidden: Bool
        /// Objects in the new store.
        public internal(set) var kept = 0
        /// Objects known to have been there that are not in the new store. More may be in bytes that nobody can read.
        public internal(set) var lost = 0
        /// Objects of which an older version was kept: the newest one is lost, or they may have been deleted.
        public internal(set) var older = 0
    }

    /// One thing that was lost.
    public struct Loss: Sendable {
        /// What kind of thing.
        public enum Kind: String, Sendable {
            /// An object.
            case row
            /// A value of an object that is there without it.
            case value
            /// A reference to an object that is not there.
            case reference
            /// An object whose unique key a newer one has.
            case duplicate
        }

        /// What kind of thing.
        public let kind: Kind
        /// The entity's name; nil if it is not known.
        public let entity: String?
        /// The object's number; nil if it is not known.
        public let number: UInt32?
        /// The property, or the properties of the key.
        public let key: String?
        /// The segment it was in.
        public let segment: UInt32
        /// Where its block is in the segment.
        public let offset: UInt64
        /// What happened.
        public let reason: String
    }

    /// Where the new store is.
    public internal(set) var destination = ""
    /// The identity of the damaged store, if anything said it.
    public internal(set) var sourceIdentifier: UUID?
    /// The identity of the new one.
    public internal(set) var identifier: UUID?
    /// By number; those that are missing too.
    public internal(set) var segments: [Segment] = []
    /// In the order of the model, hidden ones last.
    public internal(set) var entities: [Entity] = []
    /// What was lost, one by one; at most a thousand.
    public internal(set) var losses: [Loss] = []
    /// How many things are lost.
    public internal(set) var lossCount = 0
    /// Values that objects are kept without.
    public internal(set) var valuesLost = 0
    /// References that were cleared, since what they led to is not there.
    public internal(set) var referencesCleared = 0
    /// Objects that had to give way to a newer one with the same unique key.
    public internal(set) var duplicates = 0
    /// Older copies that were found alive beside newer ones.
    public internal(set) var superseded = 0
    /// Commits of which a part is lost.
    public internal(set) var damagedCommits: UInt64 = 0
    /// Objects that are kept and may have been deleted by what is lost: nothing tells. It is the most they can be.
    public internal(set) var possiblyResurrected = 0
    /// Bytes behind the end of the log that held nothing promised. They are no loss.
    public internal(set) var bytesLeftBehind: UInt64 = 0
    /// Whole commits among them, which `SalvageOptions.takesUnpromised` would take.
    public internal(set) var unpromisedCommits = 0
    /// Whether it is known where the log ended: the store was closed, or its mark record is there. Else the last commits
    /// may be lost and leave no trace.
    public internal(set) var isEndKnown = true
    /// Whether bytes are lost of which nobody can say what they held.
    public internal(set) var hasUnknownLosses = false

    /// Objects in the new store, without those of hidden entities.
    public var rowsKept: Int { entities.reduce(0) { $0 + ($1.isHidden ? 0 : $1.kept) } }

    /// Objects known to be lost, without those of hidden entities.
    public var rowsLost: Int { entities.reduce(0) { $0 + ($1.isHidden ? 0 : $1.lost) } }

    /// Whether nothing is lost: the new store holds what the old one held.
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
