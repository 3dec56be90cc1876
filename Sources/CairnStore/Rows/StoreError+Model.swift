// Errors of the model, as errors of a store.

package import CairnModel

extension StoreError {
    /// An error for a value that violates the model.
    init(_ failure: ValidationFailure, entity: String, row: Int? = nil) {
        self.init(
            Code(rawValue: failure.code.rawValue), failure.message,
            context: .init(entity: entity, key: failure.key, row: row, value: failure.value))
    }

    /// An attribute that was asked for and that no store keeps.
    package init(transient attribute: AttributeDescription, of entity: SchemaEntity) {
        self.init(
            .invalidRequest, "the attribute is transient: its values are not stored",
            context: .init(entity: entity.name, key: attribute.name))
    }

    /// A predicate or an expression that does not fit an entity.
    package init(_ error: PredicateFormatError, entity: SchemaEntity) {
        self.init(error, entity: entity.name)
    }

    /// A predicate or an expression that does not fit an entity.
    package init(_ error: PredicateFormatError, entity: String, about subject: String = "") {
        let detail = error.message == error.plainMessage ? nil : subject + error.message
        self.init(
            .invalidRequest, subject + error.plainMessage,
            context: .init(entity: entity, key: error.key, detail: detail))
    }
}
