import CairnModel

extension Engine {
    /// The model the store holds.
    var schema: Schema { registry.read { $0.catalog.schema } }
}
