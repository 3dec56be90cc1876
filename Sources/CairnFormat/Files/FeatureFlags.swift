// What a store uses beyond its version, in three words.               Format 20, F-206 to F-208

/// The three words of feature flags of a segment header.
package struct FeatureFlags: Sendable, Hashable {
    /// A reader and a writer that do not know a bit may ignore it.
    package var compatible: UInt64 = 0
    /// Who does not know a bit may read but must not write.
    package var readOnlyCompatible: UInt64 = 0
    /// Who does not know a bit must not open the store.
    package var incompatible: UInt64 = 0

    package init(compatible: UInt64 = 0, readOnlyCompatible: UInt64 = 0, incompatible: UInt64 = 0) {
        self.compatible = compatible
        self.readOnlyCompatible = readOnlyCompatible
        self.incompatible = incompatible
    }

    /// Said of a segment that may hold metadata, and of all after it: who does not know them would let them go with
    /// the segment they are in.                                                                F-755
    package static let metadata = FeatureFlags(readOnlyCompatible: 1)

    /// The schema has constraints with options, which nobody may write past.                 F-715
    package static let constraintRules = FeatureFlags(readOnlyCompatible: 2)

    /// Said of a segment that may hold changes for the history, and of all after it: who does not know them would write
    /// commits that are missing in it.                                                        F-777
    package static let history = FeatureFlags(readOnlyCompatible: 4)

    /// Said of a segment that may hold redirects, and of all after it: who does not know them would let them go with the
    /// segment they are in.                                                                    F-785
    package static let redirects = FeatureFlags(readOnlyCompatible: 8)

    /// Said of a segment that is begun once past states are kept, and of all after it: who does not know of them would
    /// remove the segments that they need.                                                       F-797
    package static let pastStates = FeatureFlags(readOnlyCompatible: 16)

    /// The store has followed a change of its model: older blocks do not say all of their rows. Who does not know that would
    /// misread them.                                                                          F-719
    package static let migrated = FeatureFlags(incompatible: 1)

    /// Said of a segment whose blocks may have packed columns, and of all after it: who does not know these cannot read the
    /// rows.                                                                                       F-570
    package static let packedColumns = FeatureFlags(incompatible: 2)

    /// The bits that this code knows.
    package static let known = metadata.union(constraintRules).union(history).union(redirects)
        .union(pastStates).union(migrated).union(packedColumns)

    /// Whether columns may be packed where these flags are said.                           F-570
    package var allowsPackedColumns: Bool {
        incompatible & Self.packedColumns.incompatible != 0
    }

    /// Whether metadata may be written where these flags are said.                         F-755
    package var allowsMetadata: Bool {
        readOnlyCompatible & Self.metadata.readOnlyCompatible != 0
    }

    /// Whether changes for the history may be written where these flags are said.          F-777
    package var allowsHistory: Bool {
        readOnlyCompatible & Self.history.readOnlyCompatible != 0
    }

    /// Whether redirects may be written where these flags are said.                       F-785
    package var allowsRedirects: Bool {
        readOnlyCompatible & Self.redirects.readOnlyCompatible != 0
    }

    /// Whether past states may be kept where these flags are said.                          F-797
    package var allowsPastStates: Bool {
        readOnlyCompatible & Self.pastStates.readOnlyCompatible != 0
    }

    /// All bits of both.
    package func union(_ other: FeatureFlags) -> FeatureFlags {
        FeatureFlags(
            compatible: compatible | other.compatible,
            readOnlyCompatible: readOnlyCompatible | other.readOnlyCompatible,
            incompatible: incompatible | other.incompatible)
    }

    /// Whether a store with these flags may be written by this code.                      F-207
    package var allowsWriting: Bool {
        readOnlyCompatible & ~Self.known.readOnlyCompatible == 0
    }

    /// - Throws: `FormatError` with `.unsupportedFeature` if the store must not be opened.      F-208
    package func requireReadable() throws(FormatError) {
        let unknown = incompatible & ~Self.known.incompatible
        guard unknown == 0 else {
            throw FormatError(
                .unsupportedFeature, "F-208",
                "the store uses a feature that this version of Cairn does not know",
                at: SegmentHeader.Field.incompatible, expected: Self.known.incompatible,
                found: incompatible)
        }
    }
}
