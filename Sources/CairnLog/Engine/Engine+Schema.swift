package import CairnModel

extension Engine {
    /// The store's model.
    package var schema: Schema { registry.read { $0.catalog.schema } }
}
