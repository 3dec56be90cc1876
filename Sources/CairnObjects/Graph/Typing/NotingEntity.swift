// An entity without properties, for objects that only note what they are asked for.

package import CairnModel

package enum NotingEntity {
    /// The entity: of a model of its own, in no store.
    package static let entity: SchemaEntity = {
        let name = "NotingEntity"
        guard
            let schema = try? Schema(ManagedObjectModel(entities: [EntityDescription(name)])),
            let entity = schema.entity(named: name)
        else { preconditionFailure("an entity without properties is valid") }
        return entity
    }()
}

extension ManagedObject {
    /// Whether it only notes what it is asked for.
    package final var isNoting: Bool { entity === NotingEntity.entity }
}
