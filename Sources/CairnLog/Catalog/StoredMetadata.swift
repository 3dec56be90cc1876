// Metadata in the form of a log frame.                                                Format 75
//
// Threads: immutable, so any.

package import CairnFormat
package import CairnModel
import CairnStore
package import FoundationEssentials

/// The metadata of a store at a commit. A class, because every state has it.
package final class StoredMetadata: Sendable {
    /// The place of their frame.
    let place: Place
    let revision: UInt64
    /// The identifier of the store; nil if that is its store id.
    package let identifier: UUID?
    /// The values that programs keep with the store.
    package let values: [String: Value]
    /// The settings of the history; nil if there never was one.  F-778
    package let history: HistorySettings?
    /// The settings of past states; nil if none are kept.  F-791
    package let asOf: AsOfSettings?

    init(
        place: Place, revision: UInt64, identifier: UUID?, values: [String: Value],
        history: HistorySettings? = nil, asOf: AsOfSettings? = nil
    ) {
        self.history = history
        self.asOf = asOf
        self.place = place
        self.revision = revision
        self.identifier = identifier
        self.values = values
    }

    /// Decodes a frame's payload.
    init(_ payload: UnsafeRawBufferPointer, at place: Place) throws(FormatError) {
        self.place = place
        revision = try MetadataPayload(decoding: payload).revision
        let document: MetadataDocument<Value>
        do {
            document = try JSONDecoder().decode(
                MetadataDocument<Value>.self, from: Data(MetadataPayload.document(of: payload)))
        } catch {
            throw FormatError(.malformed, "F-752", "the metadata frame holds no metadata")
        }
        guard document.format == FormatVersion.current else {
            throw FormatError(
                .unsupportedVersion, "F-752", "the metadata has another format version",
                expected: UInt64(FormatVersion.current), found: UInt64(document.format))
        }
        if let text = document.identifier {
            guard let identifier = UUID(uuidString: text) else {
                throw FormatError(
                    .malformed, "F-752", "the identifier in the metadata is not a UUID")
            }
            self.identifier = identifier
        } else {
            identifier = nil
        }
        guard document.values.values.allSatisfy(\.isMetadata) else {
            throw FormatError(.malformed, "F-752", "a value in the metadata is of an unknown kind")
        }
        values = document.values
        history = document.history
        guard history?.isPossible ?? true else {
            throw FormatError(.malformed, "F-778", "the history's commit numbers are impossible")
        }
        asOf = document.asOf
        guard asOf?.isPossible ?? true else {
            throw FormatError(.malformed, "F-791", "the settings for past states are impossible")
        }
    }

    /// The same metadata at another place.
    func placed(at place: Place) -> StoredMetadata {
        StoredMetadata(
            place: place, revision: revision, identifier: identifier, values: values,
            history: history, asOf: asOf)
    }

    /// Their JSON, which may be too long for a frame.
    func json() throws(StoreError) -> [UInt8] {
        try MetadataDocument.encode(values, identifier: identifier, history: history, asOf: asOf)
    }

    /// Returns the newer of two. What compaction has rewritten is in a segment with a larger number.  F-753
    func newer(than other: StoredMetadata?) -> StoredMetadata {
        guard let other else { return self }
        if revision != other.revision { return revision > other.revision ? self : other }
        return place.segment >= other.place.segment ? self : other
    }
}

extension HistorySettings {
    /// Whether its commit numbers are valid.
    fileprivate var isPossible: Bool {
        horizon < FormatLimits.maximumLSN
            && consumers.values.allSatisfy { $0 < FormatLimits.maximumLSN }
    }
}

extension Value {
    /// Whether it can be kept as metadata: nil is no value, and object ids belong to the objects of a store.
    var isMetadata: Bool {
        switch self {
        case .null, .objectID: false
        default: true
        }
    }
}

extension MetadataDocument<Value> {
    /// The JSON of a metadata frame, which may be too long for one.
    static func encode(
        _ values: [String: Value], identifier: UUID?, history: HistorySettings? = nil,
        asOf: AsOfSettings? = nil
    ) throws(StoreError) -> [UInt8] {
        let document = MetadataDocument(
            identifier: identifier?.uuidString, values: values, history: history, asOf: asOf)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(document))
        } catch {
            throw StoreError(.invalidRequest, "the metadata cannot be written: \(error)")
        }
    }
}

extension MetadataDocument<Value> {
    /// Throws for metadata that cannot be written, or not be read again. Leaves room for what the store
    /// itself keeps there.
    static func check(_ values: [String: Value], identifier: UUID?) throws(StoreError) {
        let json = try encode(values, identifier: identifier)
        guard json.count <= MetadataPayload.maximumDocument - MetadataPayload.ownDocument else {
            throw StoreError(
                .invalidRequest, "the metadata of a store exceeds 16 MiB, less 256 KiB of its own")
        }
        do {
            _ = try JSONDecoder().decode(Self.self, from: Data(json))
        } catch {
            throw StoreError(
                .invalidRequest, "one of the values cannot be kept as metadata",
                context: .init(key: key(ofUnreadable: values)))
        }
    }

    /// The key of a value that cannot be read again.
    private static func key(ofUnreadable values: [String: Value]) -> String? {
        values.keys.sorted().first { key in
            guard let value = values[key], let json = try? JSONEncoder().encode([value]) else {
                return true
            }
            return (try? JSONDecoder().decode([Value].self, from: json)) == nil
        }
    }
}

extension LogWriter {
    /// Appends a metadata frame and returns its place.
    mutating func append(_ metadata: StoredMetadata) throws(StoreError) -> Place {
        try append(metadata, try metadata.json())
    }

    /// The same for metadata whose JSON is known.
    mutating func append(_ metadata: StoredMetadata, _ json: [UInt8]) throws(StoreError) -> Place {
        guard json.count <= MetadataPayload.maximumDocument else {
            throw StoreError(.invalidRequest, "the metadata of a store exceeds 16 MiB")
        }
        return try append(.metadata, flags: FrameHeader.skippable) { writer throws(StoreError) in
            json.withUnsafeBytes {
                MetadataPayload(revision: metadata.revision).encode(document: $0, to: &writer)
            }
        }
    }
}
