// What the adapters are told of: the same in every run.

import CairnLog
import CairnModel
import CairnObjects
import CairnStore

enum Work {
    private static let model: ManagedObjectModel = {
        let recipe = EntityDescription(
            "Recipe", attributes: [AttributeDescription("title", .string)],
            relationships: [RelationshipDescription("type", to: "Type", inverse: "recipes")],
            uniquenessConstraints: [["title"]])
        let type = EntityDescription(
            "Type", attributes: [AttributeDescription("name", .string)],
            relationships: [
                RelationshipDescription("recipes", to: "Recipe", toMany: true, inverse: "type")
            ])
        return ManagedObjectModel(entities: [recipe, type])
    }()

    /// 30 recipes and their types, fetched without and with the types, one of them changed, a save that fails, a batch, and
    /// all refreshed.
    static func run(_ instruments: [any Instrument]) throws {
        let store = try LogStore.inMemory(schema: Schema(model))
        let maker = ManagedObjectContext(store: store, instruments: [])
        for number in 0..<30 {
            let recipe = maker.insert("Recipe")
            recipe["title"] = "recipe \(number)"
            recipe["type"] = maker.insert("Type")
        }
        try maker.save()

        let context = ManagedObjectContext(store: store, instruments: instruments)
        context.name = "list"
        var request = FetchRequest(
            entityName: "Recipe", predicate: .compare("title", .notEqual, .string("secret")))
        func show() throws -> [ManagedObject] {
            let recipes = try context.fetch(request)
            for recipe in recipes { _ = (recipe["type"] as? ManagedObject)?["name"] }
            return recipes
        }
        let recipes = try show()
        request.relationshipKeyPathsForPrefetching = ["type"]
        _ = try show()
        recipes[0]["title"] = "changed"
        try context.save()
        context.refreshAllObjects()
        context.insert("Recipe")["title"] = "changed"
        do {
            try context.save()
            preconditionFailure("the title is taken")
        } catch let error as StoreError where error.code == .constraintConflict {
            context.rollback()
        }
        context.mergePolicy = .error
        try context.execute(
            BatchInsertRequest(entityName: "Type", objects: [["name": "a"], ["name": "b"]]))
    }
}
