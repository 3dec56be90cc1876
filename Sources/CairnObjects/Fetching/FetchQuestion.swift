// A request as a context asks a store, and the context itself.

import CairnModel
public import CairnStore

/// A request that was checked.
struct FetchQuestion {
    var fetch: StoreFetch
    let entity: SchemaEntity
    let evaluator: PredicateEvaluator?
    let sort: [SortPath]

    /// Whether objects of an entity are asked for.
    func includes(_ entity: SchemaEntity) -> Bool {
        fetch.includesSubentities ? entity.isKind(of: self.entity) : entity === self.entity
    }

    /// Whether all that matches is asked for, in the order of the ids.
    var isWhole: Bool {
        fetch.sort.isEmpty && fetch.limit == nil && fetch.offset == 0 && !isOfOneKey
    }

    /// Whether the condition is that one property equals one value: a store may have an index for it.
    var isOfOneKey: Bool {
        if case .comparison(let comparison)? = fetch.predicate, comparison.operator == .equal {
            return true
        }
        return false
    }
}

extension ManagedObjectContext {
    /// A request as a store understands it.
    ///
    /// - Throws: `StoreError` with `.invalidRequest` naming the key that does not fit.
    public func storeFetch<Result>(_ request: FetchRequest<Result>) throws(StoreError) -> StoreFetch
    {
        try question(request.terms).fetch
    }

    /// Checks a request that is about objects.
    func question(_ terms: FetchTerms) throws(StoreError) -> FetchQuestion {
        let entity = try entity(of: terms)
        let sort = try [SortPath](terms.sortDescriptors, of: entity, in: schema)
        return try question(terms, entity, sort)
    }

    /// Checks a request but for what it is sorted by.
    func question(
        _ terms: FetchTerms, _ entity: SchemaEntity, _ sort: [SortPath] = []
    ) throws(StoreError) -> FetchQuestion {
        if let coordinator { noticeStores(coordinator) }
        var evaluator: PredicateEvaluator?
        if let predicate = terms.predicate {
            evaluator = try PredicateEvaluator(
                led(predicate), entity: entity, in: schema, terms.nullSemantics)
        }
        var fetch = StoreFetch(entity: entity.index, predicate: evaluator?.predicate)
        fetch.includesSubentities = terms.includesSubentities
        fetch.sort = terms.sortDescriptors
        fetch.limit = terms.fetchLimit > 0 ? terms.fetchLimit : nil
        fetch.offset = max(0, terms.fetchOffset)
        if let rarer = terms.box?.terms, let stores = rarer.affectedStores {
            fetch.affectedStores = try identifiers(of: stores, entity)
        }
        return FetchQuestion(fetch: fetch, entity: entity, evaluator: evaluator, sort: sort)
    }
}
