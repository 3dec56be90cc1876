// What the words of a request mean in the model: its entity, and the paths to be read ahead.

import CairnModel
import CairnStore

extension ManagedObjectContext {
    /// The entity that a request names.
    func entity(of terms: FetchTerms) throws(StoreError) -> SchemaEntity {
        if let entity = knownEntity(named: terms.entityName) { return entity }
        throw StoreError(
            .invalidRequest, "the model has no entity of this name",
            context: .init(entity: terms.entityName))
    }

    /// A path as the names of its relationships, which all exist.
    typealias PrefetchPath = [String]

    /// Checks the paths of a request.
    func prefetchPaths(_ paths: [String], _ terms: FetchTerms) throws(StoreError) -> [PrefetchPath]
    {
        if paths.isEmpty { return [] }
        let entity = try entity(of: terms)
        var result: [PrefetchPath] = []
        for path in paths {
            let names = path.split(separator: ".", omittingEmptySubsequences: false).map(
                String.init)
            var current = entity
            for name in names {
                guard let index = current.relationshipIndex(named: name) else {
                    throw StoreError(
                        .invalidRequest,
                        "\(current.name) has no relationship \(name) to prefetch",
                        context: .init(entity: entity.name, key: path))
                }
                current = schema.entities[current.relationships[index].destination]
            }
            result.append(names)
        }
        return result
    }
}
