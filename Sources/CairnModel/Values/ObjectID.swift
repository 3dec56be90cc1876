// The identity of a managed object: its store, its entity hierarchy, and its number in the hierarchy.

public import FoundationEssentials

/// The identity of an object, stable for its whole life and across processes.
///
/// An id is a value: it can be stored, sent between tasks, and converted to a URI and back. An object that has not been
/// saved yet has a *temporary* id, which the save replaces by a permanent one, unless a permanent one was obtained before.
public struct ObjectID: Sendable, Hashable {
    /// The store's identifier; of a temporary id, the context's.
    public let store: UUID
    /// The entity hierarchy in the store: all entities under one root share their numbers.
    public let hierarchy: UInt32
    /// The object's number in its hierarchy, which is never reused. For a stored object it has 32 bits.
    public let reference: UInt64
    /// Whether the object has no permanent id yet.
    public let isTemporary: Bool

    /// The id of a stored object.
    public init(store: UUID, hierarchy: UInt32, reference: UInt64) {
        self.store = store
        self.hierarchy = hierarchy
        self.reference = reference
        self.isTemporary = false
    }

    /// The id of an object that has not been stored yet.
    public init(temporary reference: UInt64, hierarchy: UInt32, context: UUID) {
        self.store = context
        self.hierarchy = hierarchy
        self.reference = reference
        self.isTemporary = true
    }

    /// The id as a URI: `x-cairn://STORE/hHIERARCHY/pREFERENCE`, with `t` for a temporary reference.
    public var uriRepresentation: URL {
        let text =
            "x-cairn://\(store.uuidString)/h\(hierarchy)/\(isTemporary ? "t" : "p")\(reference)"
        guard let url = URL(string: text) else {
            preconditionFailure("an object id is always a valid URI: \(text)")
        }
        return url
    }

    /// The id that a URI represents, or nil if the URI is not an object id.
    public init?(uriRepresentation: URL) {
        let text = uriRepresentation.absoluteString
        let prefix = "x-cairn://"
        guard text.hasPrefix(prefix) else { return nil }
        let parts = text.dropFirst(prefix.count).split(
            separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, let store = UUID(uuidString: String(parts[0])),
            parts[1].first == "h", let hierarchy = UInt32(parts[1].dropFirst()),
            let kind = parts[2].first, kind == "p" || kind == "t",
            let reference = UInt64(parts[2].dropFirst()),
            kind == "t" || reference <= UInt64(UInt32.max)
        else { return nil }
        if kind == "t" {
            self.init(temporary: reference, hierarchy: hierarchy, context: store)
        } else {
            self.init(store: store, hierarchy: hierarchy, reference: reference)
        }
    }

    /// Whether both identify the same object.
    public static func == (left: ObjectID, right: ObjectID) -> Bool {
        left.reference == right.reference && left.hierarchy == right.hierarchy
            && left.isTemporary == right.isTemporary && left.store == right.store
    }

    /// Hashes reference and hierarchy.
    public func hash(into hasher: inout Hasher) {
        // The store is the same for nearly all ids of a table: hashing it would buy nothing.
        hasher.combine(reference)
        hasher.combine(hierarchy)
    }
}

extension ObjectID: Codable {
    /// Decodes an id from its URI.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let url = try container.decode(URL.self)
        guard let id = ObjectID(uriRepresentation: url) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "\(url) is not the URI of an object id")
        }
        self = id
    }

    /// Encodes the id as its URI.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(uriRepresentation)
    }
}

extension ObjectID: CustomStringConvertible {
    /// Reference and hierarchy, in short form.
    public var description: String {
        "\(isTemporary ? "t" : "p")\(reference)@h\(hierarchy)"
    }
}
