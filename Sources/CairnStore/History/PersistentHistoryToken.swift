// A position in the history of one or several stores.
//
// A point is the number of a commit. Numbers are used again: by who commits behind a copy of a store from before, or after a
// power failure that took commits along which nobody had made durable. So a token that was given for a transaction also says
// when that was, and as long as a store retains the transaction it is compared.

package import FoundationEssentials

/// A position in the history: everything before it has been seen.
///
/// A token is opaque. It can be stored, in a file or in a store's metadata, and passed to
/// ``PersistentHistoryChangeRequest/fetchHistory(after:)-(PersistentHistoryToken?)`` the next time the program runs.
///
/// ```swift
/// let saved = try JSONEncoder().encode(token)
/// let token = try JSONDecoder().decode(PersistentHistoryToken.self, from: saved)
/// ```
///
/// A store detects a token from a diverged history, after it was replaced by an older copy or lost its last commits in
/// a power failure: the token has then expired. It cannot detect a token of a transaction that it has since deleted
/// from its history.
///
/// Tokens are equal if they represent the same positions.
public struct PersistentHistoryToken: Sendable, Hashable, Codable {
    /// The transaction by which a store knows that a point is one of its own.
    package struct Mark: Sendable, Hashable {
        /// The number of the newest transaction up to the point.
        package var transaction: UInt64
        /// When it was committed, in seconds since the reference date.
        package var time: Double

        package init(transaction: UInt64, time: Double) {
            self.transaction = transaction
            self.time = time
        }
    }

    /// By identifier of the store: its last commit that has been seen.
    package private(set) var numbers: [UUID: UInt64]
    /// By identifier of the store, of points of which it is known.
    package private(set) var marks: [UUID: Mark]

    /// A point of some stores.
    package init(_ numbers: [UUID: UInt64], marks: [UUID: Mark] = [:]) {
        self.numbers = numbers
        self.marks = marks
    }

    /// Behind a commit of a store.
    package init(store: UUID, number: UInt64, mark: Mark? = nil) {
        numbers = [store: number]
        marks = mark.map { [store: $0] } ?? [:]
    }

    /// The later of both positions, for each store.
    ///
    /// Tokens of saves and changes only cover the stores that were written; `token =
    /// token.merging(change.historyToken)` keeps the positions in the others.
    public func merging(_ other: PersistentHistoryToken) -> PersistentHistoryToken {
        var merged = self
        for (store, number) in other.numbers {
            let mine = numbers[store]
            if let mine, mine > number { continue }
            // Of the same point the one that says more.
            if mine == number, other.marks[store] == nil { continue }
            merged.numbers[store] = number
            merged.marks[store] = other.marks[store]
        }
        return merged
    }

    /// Whether everything before this token is also before another one: for each store of this token the other token has a
    /// position that is not earlier. With several stores, it is possible that neither covers the other.
    public func isCovered(by other: PersistentHistoryToken) -> Bool {
        numbers.allSatisfy { store, number in other.numbers[store].map { $0 >= number } ?? false }
    }

    /// Whether they represent the same positions.
    public static func == (one: PersistentHistoryToken, other: PersistentHistoryToken) -> Bool {
        one.numbers == other.numbers
    }

    /// Hashes what equality compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(numbers) }

    // MARK: Kept

    /// A number; with a mark the number, that of the transaction, and the bits of its time.
    private enum Entry: Codable {
        case number(UInt64)
        case marked([UInt64])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(UInt64.self) {
                self = .number(number)
            } else {
                self = .marked(try container.decode([UInt64].self))
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .number(let number): try container.encode(number)
            case .marked(let numbers): try container.encode(numbers)
            }
        }

        var numbers: [UInt64] {
            switch self {
            case .number(let number): [number]
            case .marked(let numbers): numbers
            }
        }
    }

    /// Decodes a token.
    public init(from decoder: any Decoder) throws {
        let entries = try decoder.singleValueContainer().decode([String: Entry].self)
        numbers = [:]
        marks = [:]
        for (text, entry) in entries {
            let words = entry.numbers
            guard let store = UUID(uuidString: text), words.count == 1 || words.count == 3,
                words[0] < 1 << 62, words.count == 1 || 1...words[0] ~= words[1]
            else {
                throw DecodingError.dataCorrupted(
                    .init(
                        codingPath: decoder.codingPath,
                        debugDescription: "this is not a history token"))
            }
            numbers[store] = words[0]
            if words.count == 3 {
                marks[store] = Mark(transaction: words[1], time: Double(bitPattern: words[2]))
            }
        }
    }

    /// Encodes the token.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(
            Dictionary(
                uniqueKeysWithValues: numbers.map { store, number in
                    let entry: Entry =
                        marks[store].map {
                            .marked([number, $0.transaction, $0.time.bitPattern])
                        } ?? .number(number)
                    return (store.uuidString, entry)
                }))
    }
}
