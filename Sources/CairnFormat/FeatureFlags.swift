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

    /// The bits that this code knows: version 1 has none.
    package static let known = FeatureFlags()

    /// Whether a store with these flags may be written by this code.                      F-207
    package var allowsWriting: Bool {
        readOnlyCompatible & ~Self.known.readOnlyCompatible == 0
    }

    /// - Throws: `FormatError` with `.unsupportedFeature` if the store must not be opened.      F-208
    package func requireReadable() throws(FormatError) {
        let unknown = incompatible & ~Self.known.incompatible
        guard unknown == 0 else {
            throw FormatError(
                .unsupportedFeature, "F-208", "the store uses a feature that this version lacks",
                at: SegmentHeader.Field.incompatible, expected: Self.known.incompatible,
                found: incompatible)
        }
    }
}
