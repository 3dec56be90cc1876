// The stores that every test here runs on: one place to add another.

import CairnModel
import CairnStore

/// A kind of store.
enum Backend: String, CaseIterable, Sendable {
    /// Everything in a dictionary.
    case dictionary

    /// A new, empty store.
    func makeStore(_ schema: Schema) throws -> any PersistentStore {
        switch self {
        case .dictionary: DictionaryStore(schema)
        }
    }
}
