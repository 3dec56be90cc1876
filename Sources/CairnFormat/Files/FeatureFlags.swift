// The features that a store uses beyond its version, in three words.    Format 20, F-206 to F-208

/// The three words of feature flags of a segment header.
package struct FeatureFlags: Sendable, Hashable {
    /// Readers and writers may ignore unknown bits.
    package var compatible: UInt64 = 0
    /// Code that does not know a bit may read but must not write.
    package var readOnlyCompatible: UInt64 = 0
    /// Code that does not know a bit must not open the store.
    package var incompatible: UInt64 = 0

    package init(compatible: UInt64 = 0, readOnlyCompatible: UInt64 = 0, incompatible: UInt64 = 0) {
        self.compatible = compatible
        self.readOnlyCompatible = readOnlyCompatible
        self.incompatible = incompatible
    }

    /// Set for a segment that may contain metadata, and for all after it: older code would drop the metadata
    /// with their segment. (F-755)
    package static let metadata = FeatureFlags(readOnlyCompatible: 1)

    /// The schema has constraints with options, which older code would violate.              F-715
    package static let constraintRules = FeatureFlags(readOnlyCompatible: 2)

    /// Set for a segment that may contain changes for the history, and for all after it: older code would
    /// write commits that are missing from the history. (F-777)
    package static let history = FeatureFlags(readOnlyCompatible: 4)

    /// Set for a segment that may contain redirects, and for all after it: older code would drop them with
    /// their segment. (F-785)
    package static let redirects = FeatureFlags(readOnlyCompatible: 8)

    /// Set for a segment created since past states are kept, and for all after it: older code would remove
    /// the segments that past states need. (F-797)
    package static let pastStates = FeatureFlags(readOnlyCompatible: 16)

    /// The model of the store has changed: older blocks do not define all of their rows. Older code would
    /// misread them. (F-719)
    package static let migrated = FeatureFlags(incompatible: 1)

    /// Set for a segment whose blocks may have packed columns, and for all after it: older code cannot read
    /// the rows. (F-570)
    package static let packedColumns = FeatureFlags(incompatible: 2)

    /// The bits that this code supports.
    package static let known = metadata.union(constraintRules).union(history).union(redirects)
        .union(pastStates).union(migrated).union(packedColumns)

    /// Whether columns may be packed in a segment with these flags.                          F-570
    package var allowsPackedColumns: Bool {
        incompatible & Self.packedColumns.incompatible != 0
    }

    /// Whether metadata may be written to a segment with these flags.                        F-755
    package var allowsMetadata: Bool {
        readOnlyCompatible & Self.metadata.readOnlyCompatible != 0
    }

    /// Whether changes for the history may be written to a segment with these flags.         F-777
    package var allowsHistory: Bool {
        readOnlyCompatible & Self.history.readOnlyCompatible != 0
    }

    /// Whether redirects may be written to a segment with these flags.                       F-785
    package var allowsRedirects: Bool {
        readOnlyCompatible & Self.redirects.readOnlyCompatible != 0
    }

    /// Whether past states may be kept with these flags.                                     F-797
    package var allowsPastStates: Bool {
        readOnlyCompatible & Self.pastStates.readOnlyCompatible != 0
    }

    /// Returns all bits of both.
    package func union(_ other: FeatureFlags) -> FeatureFlags {
        FeatureFlags(
            compatible: compatible | other.compatible,
            readOnlyCompatible: readOnlyCompatible | other.readOnlyCompatible,
            incompatible: incompatible | other.incompatible)
    }

    /// Whether this code may write to a store with these flags.                            F-207
    package var allowsWriting: Bool {
        readOnlyCompatible & ~Self.known.readOnlyCompatible == 0
    }

    /// - Throws: `FormatError` with `.unsupportedFeature` if this code must not open the store.    F-208
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
