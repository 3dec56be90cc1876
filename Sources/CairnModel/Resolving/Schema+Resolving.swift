// Converts a model to a schema: it is resolved and checked, and its derivations are parsed.

extension Schema {
    /// Checks a model and resolves it.
    ///
    /// - Throws: `ModelError` for the first error.
    public convenience init(_ model: ManagedObjectModel) throws(ModelError) {
        try self.init(model, isStored: false)
    }

    /// The same for a model that a store has. One with a derivation that is refused serves to read what is stored.
    package convenience init(_ model: ManagedObjectModel, isStored: Bool) throws(ModelError) {
        let resolved = try SchemaResolver(model).resolve()
        try ModelChecks(model: model, entities: resolved.entities).run()
        let derivations = try DerivationResolver(entities: resolved.entities, pairs: resolved.pairs)
            .resolve(isStored: isStored)
        self.init(
            model, entities: resolved.entities, pairs: resolved.pairs, derivations: derivations)
    }

    /// The derived attributes that are refused, each judged by itself; of a model that a store has there can be some.
    package var refusedDerivations: [RefusedDerivation] {
        DerivationResolver(entities: entities, pairs: pairs).refused()
    }
}
