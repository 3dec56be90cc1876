// Entities of models that are in use, and their objects.

import CairnModel
import CairnObjects
import Foundation

extension NSEntityDescription {
    /// The entity of a name in the model of a context; nil if it has none of that name.
    public class func entity(
        forEntityName entityName: String, in context: NSManagedObjectContext
    ) -> NSEntityDescription? {
        guard let coordinator = context.persistentStoreCoordinator else {
            preconditionFailure(
                "the context has no coordinator, so no entity is called \(entityName)")
        }
        return coordinator.managedObjectModel.entitiesByName[entityName]
    }

    /// Makes an object of an entity, of the entity's class, and inserts it into a context.
    public class func insertNewObject(
        forEntityName entityName: String, into context: NSManagedObjectContext
    ) -> NSManagedObject {
        guard entity(forEntityName: entityName, in: context) != nil else {
            let names = context.persistentStoreCoordinator?.managedObjectModel.entitiesByName.keys
            preconditionFailure(
                "the model has no entity \(entityName): it has \((names?.sorted() ?? []).joined(separator: ", "))"
            )
        }
        return NSManagedObjectContext.object(context.core.insert(entityName))
    }

    /// The description of an entity of a model that is in use.
    static func standing(for entity: SchemaEntity) -> NSEntityDescription {
        guard let standing = entity.facade as? NSEntityDescription else {
            preconditionFailure(
                "the model of the entity \(entity.name) is gone: keep the NSManagedObjectModel, or a coordinator that has it"
            )
        }
        return standing
    }

    /// The only entity whose objects are of a class, in the model that came into use last. Without one, a sentence says why, as in
    /// Core Data, and the entity has no name.
    static func only(of type: NSManagedObject.Type) -> NSEntityDescription {
        for model in ModelsInUse.models {
            let entities = model.entities(of: type)
            if entities.count == 1 { return entities[0] }
            if entities.count > 1 {
                return missing(
                    "\(type) is the class of several entities: \(entities.map(\.description).joined(separator: ", "))"
                )
            }
        }
        return missing(
            "no model in use has an entity whose class is \(type): load the container's stores first, and look what its managedObjectClassName is"
        )
    }

    private static func missing(_ reason: String) -> NSEntityDescription {
        StandardError.write("CoreData: warning: \(reason)")
        return NSEntityDescription()
    }

    /// The entity as new objects need it, with the context behind.
    func forObjects(in context: NSManagedObjectContext?) -> (SchemaEntity, ManagedObjectContext?) {
        if let schemaEntity { return (schemaEntity, context?.core) }
        // An entity of a model whose coordinator comes later.
        guard let model else {
            preconditionFailure("the entity \(name ?? "") is in no model, or its model is gone")
        }
        model.use()
        guard let schemaEntity else { preconditionFailure("the model is in use now") }
        return (schemaEntity, context?.core)
    }
}
