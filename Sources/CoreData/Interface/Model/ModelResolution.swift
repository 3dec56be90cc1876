// What a model of mutable descriptions has become when it is used.
//
// Threads: any.

package import CairnModel
package import CairnObjects

/// A model that is used and does not change any more.
package final class ModelResolution: @unchecked Sendable {
    // The descriptions cannot be changed any more.

    /// What stores and contexts have of the model.
    package let schema: Schema
    /// The classes of its entities.
    package let classes: ObjectClasses
    /// The classes by entity.
    let types: [String: NSManagedObject.Type]
    /// The descriptions, by entity of the schema.
    let entities: [NSEntityDescription]

    init(
        _ schema: Schema, _ types: [String: NSManagedObject.Type], _ entities: [NSEntityDescription]
    ) {
        self.schema = schema
        self.types = types
        classes = ObjectClasses(types)
        self.entities = entities
    }

    /// The model as Cairn has it.
    package var model: ManagedObjectModel { schema.model }
}
