// A point of the history, as programs keep it.
//
// It is archived as the JSON that Cairn's own token is kept as.
//
// Threads: any.

package import CairnModel
import CairnObjects
package import CairnStore
public import Foundation

/// A point of the history of one store, or of several: everything before it has been seen.
///
/// ```swift
/// let data = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
/// let token = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: data)
/// ```
open class NSPersistentHistoryToken: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // It never changes.

    /// The token that this one stands for.
    package let core: PersistentHistoryToken

    package init(_ core: PersistentHistoryToken) { self.core = core }

    /// The number of the last transaction, for conditions on the history.
    ///
    /// A token of several stores ends the program with a sentence: a condition compares numbers, and each store has its own.
    package var transactionNumber: Value {
        precondition(
            core.numbers.count <= 1,
            "a token of several stores cannot be compared in a predicate: use fetchHistory(after:), or set affectedStores and take the token of one store"
        )
        return .integer(Int64(clamping: core.numbers.values.first ?? 0))
    }

    private static let key = "token"

    /// It can be read from archives of anybody.
    public class var supportsSecureCoding: Bool { true }

    /// Reads a token from an archive; nil if there is none in it, such as one of Apple's.
    public required init?(coder: NSCoder) {
        guard let data = coder.decodeObject(of: NSData.self, forKey: Self.key),
            let core = try? JSONDecoder().decode(
                PersistentHistoryToken.self, from: Data(referencing: data))
        else { return nil }
        self.core = core
    }

    /// Writes the token into an archive.
    open func encode(with coder: NSCoder) {
        do {
            coder.encode(NSData(data: try JSONEncoder().encode(core)), forKey: Self.key)
        } catch {
            preconditionFailure("a token of the history cannot be written: \(error)")
        }
    }

    /// Whether both are one point.
    open override func isEqual(_ other: Any?) -> Bool {
        (other as? NSPersistentHistoryToken)?.core == core
    }

    /// Equal for equal points.
    open override var hash: Int { core.hashValue }

    /// The token, which does not change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// The commits that have been seen.
    open override var description: String { "\(core)" }
}

extension NSPersistentStore {
    /// The point of the history behind a commit; nil if the store keeps none.
    func historyToken(behind commit: UInt64) -> NSPersistentHistoryToken? {
        guard let store = core as? any HistoryStore, store.historyTracking != .off else {
            return nil
        }
        return (try? store.historyToken(behind: commit)).map(NSPersistentHistoryToken.init)
    }
}

extension NSPersistentStoreCoordinator {
    /// The point behind everything that is written to some stores, or to all; nil if none of them keeps a history.
    public func currentPersistentHistoryToken(fromStores stores: [Any]?)
        -> NSPersistentHistoryToken?
    {
        let stores = (stores ?? []).compactMap { ($0 as? NSPersistentStore)?.core }
        let token = try? core.currentPersistentHistoryToken(
            fromStores: stores.isEmpty ? nil : stores)
        return token.map(NSPersistentHistoryToken.init)
    }
}
