// The metadata of a store.                                                     Format 75
//
// This module reads no JSON; whoever does decodes `MetadataDocument` from what follows the revision.

/// The head of a metadata frame's payload; the document, one JSON object in UTF-8, follows it to the payload's end.
package struct MetadataPayload: Sendable, Hashable {
    package static let headSize = 8
    /// The longest document.
    package static let maximumDocument = FormatLimits.maximumPayload - headSize
    /// Bytes of it that programs leave to the store: for who reads the history, and some thousand segments that past states need.
    package static let ownDocument = 256 << 10

    /// Revisions are less.                                                                          F-751
    package static let endOfRevisions: UInt64 = 1 << 62

    /// From 1, larger in each later metadata frame; the frame with the largest one is in force.      F-753
    package var revision: UInt64

    package init(revision: UInt64) {
        self.revision = revision
    }

    package func encode(document: UnsafeRawBufferPointer, to writer: inout ByteWriter) {
        precondition(
            revision > 0 && revision < Self.endOfRevisions && !document.isEmpty
                && document.count <= Self.maximumDocument,
            "a document of metadata has a revision and fits a frame")
        writer.append(revision)
        writer.append(document)
    }

    /// The head of a payload.
    package init(decoding payload: UnsafeRawBufferPointer) throws(FormatError) {
        var reader = ByteReader(payload)
        revision = try reader.integer()
        guard revision > 0, revision < Self.endOfRevisions, reader.remaining > 0 else {
            throw FormatError(
                .malformed, "F-751", "the metadata has no revision from 1 on, or no document",
                at: 0,
                found: revision)
        }
    }

    /// The document in a payload whose head was decoded.
    package static func document(of payload: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: payload[min(headSize, payload.count)...])
    }
}

/// What a metadata frame says. Keys that a reader does not know are passed over.             F-752
package struct MetadataDocument<Entry: Codable & Sendable>: Codable, Sendable {
    /// The format version.
    package var format: UInt32
    /// What the store is called by, if that is not its store id: a UUID as text.
    package var identifier: String?
    /// What programs keep with the store, by their keys.
    package var values: [String: Entry]
    /// How the history of the store is kept; nil if it never was.                              F-778
    package var history: HistorySettings?
    /// How past states are kept; nil if they are not.                                            F-791
    package var asOf: AsOfSettings?

    package init(
        identifier: String?, values: [String: Entry], history: HistorySettings? = nil,
        asOf: AsOfSettings? = nil
    ) {
        self.history = history
        self.asOf = asOf
        format = FormatVersion.current
        self.identifier = identifier
        self.values = values
    }
}

/// How the history of a store is kept.                                                       F-778
package struct HistorySettings: Codable, Sendable, Hashable {
    /// Whether commits are recorded.
    package var isTracked: Bool
    /// The last commit of which the history says nothing any more, or never did.
    package var horizon: UInt64
    /// Who wants to see the history, and the last commit that each has seen.
    package var consumers: [String: UInt64]

    package init(isTracked: Bool, horizon: UInt64, consumers: [String: UInt64] = [:]) {
        self.isTracked = isTracked
        self.horizon = horizon
        self.consumers = consumers
    }

    private enum CodingKeys: String, CodingKey {
        case isTracked = "tracking"
        case horizon, consumers
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        isTracked = try container.decode(Bool.self, forKey: .isTracked)
        horizon = try container.decode(UInt64.self, forKey: .horizon)
        consumers =
            try container.decodeIfPresent([String: UInt64].self, forKey: .consumers) ?? [:]
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(isTracked, forKey: .isTracked)
        try container.encode(horizon, forKey: .horizon)
        if !consumers.isEmpty { try container.encode(consumers, forKey: .consumers) }
    }
}
