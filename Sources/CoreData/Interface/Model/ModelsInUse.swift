// The models that are in use, for what asks for an entity by its class alone.
//
// Threads: any.

import CairnObjects
import Foundation
import Synchronization

/// The models in use.
enum ModelsInUse {
    private struct Reference {
        weak var model: NSManagedObjectModel?
    }

    private static let references = Mutex<[Reference]>([])

    /// The models, those that came into use last first.
    static var models: [NSManagedObjectModel] {
        references.withLock { $0.reversed().compactMap(\.model) }
    }

    /// Adds one, and forgets those that are gone.
    static func add(_ model: NSManagedObjectModel) {
        references.withLock { references in
            references.removeAll { $0.model == nil }
            references.append(Reference(model: model))
        }
    }
}
