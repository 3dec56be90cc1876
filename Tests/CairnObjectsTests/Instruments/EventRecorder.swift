// An instrument that keeps what it is told, and the kitchen that the tests look at.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Synchronization

/// Keeps events.
final class EventRecorder: Instrument {
    let interests: StoreEventKinds
    private let kept = Mutex<[StoreEvent]>([])

    init(_ interests: StoreEventKinds = .all) { self.interests = interests }

    func receive(_ event: StoreEvent) { kept.withLock { $0.append(event) } }

    var events: [StoreEvent] { kept.withLock { $0 } }

    /// What came since the last call.
    func take() -> [StoreEvent] {
        kept.withLock { kept in
            defer { kept = [] }
            return kept
        }
    }

    var fetches: [FetchEvent] {
        events.compactMap { if case .fetch(let event) = $0 { event } else { nil } }
    }
    var faults: [FaultEvent] {
        events.compactMap { if case .fault(let event) = $0 { event } else { nil } }
    }
    var misses: [FaultEvent] { faults.filter(\.isMiss) }
    var saves: [SaveEvent] {
        events.compactMap { if case .save(let event) = $0 { event } else { nil } }
    }
    var batches: [BatchEvent] {
        events.compactMap { if case .batch(let event) = $0 { event } else { nil } }
    }
    var refreshes: [RefreshEvent] {
        events.compactMap { if case .refresh(let event) = $0 { event } else { nil } }
    }
    var advice: [PrefetchAdvice] {
        events.compactMap { if case .advice(let advice) = $0 { advice } else { nil } }
    }
}

/// Recipes of types, whose ingredients have units.
enum Kitchen {
    static let model = makeModel(isIndexed: false)
    /// With an index on what tells recipes apart.
    static let indexedModel = makeModel(isIndexed: true)

    private static func makeModel(isIndexed: Bool) -> ManagedObjectModel {
        var recipe = EntityDescription(
            "Recipe",
            attributes: [
                AttributeDescription("title", .string), AttributeDescription("source", .string),
                AttributeDescription("externalID", .string),
            ],
            relationships: [
                RelationshipDescription("type", to: "Type", inverse: "recipes"),
                RelationshipDescription(
                    "ingredients", to: "Ingredient", toMany: true, inverse: "recipe",
                    deleteRule: .cascade),
            ])
        if isIndexed {
            recipe.indexes = [
                FetchIndexDescription(
                    "byOrigin", elements: [.init("source"), .init("externalID")])
            ]
        }
        let type = EntityDescription(
            "Type", attributes: [AttributeDescription("name", .string)],
            relationships: [
                RelationshipDescription("recipes", to: "Recipe", toMany: true, inverse: "type")
            ])
        let ingredient = EntityDescription(
            "Ingredient", attributes: [AttributeDescription("name", .string)],
            relationships: [
                RelationshipDescription("recipe", to: "Recipe", inverse: "ingredients"),
                RelationshipDescription("unit", to: "Unit", inverse: "ingredients"),
            ])
        let unit = EntityDescription(
            "Unit", attributes: [AttributeDescription("name", .string)],
            relationships: [
                RelationshipDescription(
                    "ingredients", to: "Ingredient", toMany: true, inverse: "unit")
            ])
        return ManagedObjectModel(entities: [recipe, type, ingredient, unit])
    }

    /// 60 recipes of six types, with nine ingredients each.
    static func fill(_ store: any PersistentStore, recipes: Int = 60) throws {
        let context = ManagedObjectContext(store: store)
        let types = (0..<6).map { context.make("Type", ["name": "type \($0)"]) }
        let units = (0..<3).map { context.make("Unit", ["name": "unit \($0)"]) }
        for number in 0..<recipes {
            let recipe = context.make(
                "Recipe",
                [
                    "title": "recipe \(100 + number)", "type": types[number % 6],
                    "source": number % 2 == 0 ? "web" : "book", "externalID": "\(number / 2)",
                ])
            for place in 0..<9 {
                context.make(
                    "Ingredient",
                    ["name": "ingredient \(place)", "recipe": recipe, "unit": units[place % 3]])
            }
        }
        try context.save()
    }

    static func store(_ backend: Backend, recipes: Int = 60) throws -> any PersistentStore {
        let store = try backend.makeStore(Schema(model))
        try fill(store, recipes: recipes)
        return store
    }
}

extension FetchRequest where Result == ManagedObject {
    /// The list: all recipes by title.
    static var recipes: FetchRequest<ManagedObject> {
        var request = FetchRequest(entityName: "Recipe")
        request.sortDescriptors = [SortKey("title")]
        return request
    }
}
