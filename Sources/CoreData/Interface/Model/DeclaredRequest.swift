// A request that is part of a model: that of a fetched property, or a template.
//
// A request holds its entity, and the entity its properties: here the entity is held weakly, so that a model that is dropped goes.
//
// Threads: one at a time, until the model is in use; then any, for it gives copies.

import CairnModel
import CairnStore
import Foundation

/// A request of a model.
struct DeclaredRequest {
    private let request: NSFetchRequest<any NSFetchRequestResult>
    private weak var entity: NSEntityDescription?

    /// The request as it is now.
    init(_ request: NSFetchRequest<any NSFetchRequestResult>) {
        self.request = Self.copy(of: request)
        entity = request.settings.entity
        if let entity { self.request.settings.entityName = entity.name }
        self.request.settings.entity = nil
    }

    /// A copy of the request.
    var copy: NSFetchRequest<any NSFetchRequestResult> {
        let copy = Self.copy(of: request)
        copy.settings.entity = entity
        return copy
    }

    /// The name of the entity.
    var entityName: String { entity?.name ?? request.entityName ?? "" }

    /// The text of the predicate.
    ///
    /// - Throws: `StoreError` if it has none.
    var predicateFormat: String? {
        get throws(StoreError) { try request.predicate?.node.predicateFormat }
    }

    private static func copy(
        of request: NSFetchRequest<any NSFetchRequestResult>
    ) -> NSFetchRequest<any NSFetchRequestResult> {
        guard let copy = request.copy() as? NSFetchRequest<any NSFetchRequestResult> else {
            preconditionFailure("the copy of a request is a request of the same kind")
        }
        return copy
    }
}
