// The names of transformers, as on Apple's platforms.

import Foundation

/// The name under which a ``ValueTransformer`` is registered.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
    /// The name.
    public let rawValue: String

    /// The name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The name.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// Reads archives of values of the usual classes: what an attribute without a transformer has.
    public static let secureUnarchiveFromDataTransformerName =
        NSValueTransformerName("NSSecureUnarchiveFromData")
    /// The same: here all archives are read so that only known classes come out of them.
    public static let keyedUnarchiveFromDataTransformerName =
        NSValueTransformerName("NSKeyedUnarchiveFromData")
}
