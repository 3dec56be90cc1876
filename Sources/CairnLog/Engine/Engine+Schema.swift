package import CairnModel

extension Engine {
    /// The model the store holds.
    package var schema: Schema { registry.read { $0.catalog.schema } }
}
