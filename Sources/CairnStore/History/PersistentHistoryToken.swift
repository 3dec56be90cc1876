// A point in the history of one store or of several.

package import FoundationEssentials

/// A point in the history: what was written before it has been seen.
///
/// A token is opaque. It can be kept, in a file or in a store's metadata, and given to
/// ``PersistentHistoryChangeRequest/fetchHistory(after:)-(PersistentHistoryToken?)`` at the next start of the program.
///
/// ```swift
/// let saved = try JSONEncoder().encode(token)
/// let token = try JSONDecoder().decode(PersistentHistoryToken.self, from: saved)
/// ```
public struct PersistentHistoryToken: Sendable, Hashable, Codable {
    /// By identifier of the store: its last transaction that has been seen.
    package var numbers: [UUID: UInt64]

    /// A point of some stores.
    package init(_ numbers: [UUID: UInt64]) { self.numbers = numbers }

    /// Behind a transaction of a store.
    package init(store: UUID, number: UInt64) { numbers = [store: number] }

    /// The point that is behind both: of each store the later one.
    public func merging(_ other: PersistentHistoryToken) -> PersistentHistoryToken {
        PersistentHistoryToken(numbers.merging(other.numbers) { max($0, $1) })
    }

    /// Whether everything before this point is before another one too: of each store that this one names the other one
    /// names a point that is not earlier. Of points of several stores it may be that neither is before the other.
    public func isCovered(by other: PersistentHistoryToken) -> Bool {
        numbers.allSatisfy { store, number in other.numbers[store].map { $0 >= number } ?? false }
    }

    /// Reads a token.
    public init(from decoder: any Decoder) throws {
        let texts = try decoder.singleValueContainer().decode([String: UInt64].self)
        numbers = [:]
        for (text, number) in texts {
            guard let store = UUID(uuidString: text), number < 1 << 62 else {
                throw DecodingError.dataCorrupted(
                    .init(
                        codingPath: decoder.codingPath,
                        debugDescription: "this is no token of a history"))
            }
            numbers[store] = number
        }
    }

    /// Writes the token.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(
            Dictionary(uniqueKeysWithValues: numbers.map { ($0.key.uuidString, $0.value) }))
    }
}
