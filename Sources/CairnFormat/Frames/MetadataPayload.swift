// The metadata of a store.                                                     Format 75
//
// This module does not parse JSON; the caller decodes `MetadataDocument` from the bytes after the revision.

/// The head of a metadata frame's payload; the document follows it to the payload's end: one JSON object in
/// UTF-8.
package struct MetadataPayload: Sendable, Hashable {
    package static let headSize = 8
    /// The maximum size of a document, in bytes.
    package static let maximumDocument = FormatLimits.maximumPayload - headSize
    /// The part of it that programs leave to the store, in bytes: for history consumers, and for some
    /// thousand segments that past states require.
    package static let ownDocument = 256 << 10

    /// Revisions are below this.                                                                    F-751
    package static let endOfRevisions: UInt64 = 1 << 62

    /// From 1, larger in each later metadata frame; the frame with the largest revision is in force.  F-753
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

    /// Decodes the head of a payload.
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

    /// Returns the document in a payload whose head was decoded.
    package static func document(of payload: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: payload[min(headSize, payload.count)...])
    }
}

/// The content of a metadata frame. Readers ignore unknown keys.                            F-752
package struct MetadataDocument<Entry: Codable & Sendable>: Codable, Sendable {
    /// The format version.
    package var format: UInt32
    /// The store's identifier if it is not its store id: a UUID as a string.
    package var identifier: String?
    /// The programs' own values, by key.
    package var values: [String: Entry]
    /// The history settings; nil if there never was a history.                                  F-778
    package var history: HistorySettings?
    /// The retention of past states; nil if they are not kept.                                    F-791
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

/// The history settings of a store.                                                         F-778
package struct HistorySettings: Codable, Sendable, Hashable {
    /// Whether commits are recorded.
    package var isTracked: Bool
    /// The last commit that the history does not contain, because it was purged or never recorded.
    package var horizon: UInt64
    /// The consumers of the history, and the last commit that each has processed.
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
