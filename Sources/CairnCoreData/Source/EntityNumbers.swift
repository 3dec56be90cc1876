// Which entity of the model has which number in the store.
//
//   1. By name.
//   2. By the name that it had: a migration in place leaves old names in Z_PRIMARYKEY.
//   3. By its place: Core Data numbers from 1, the tops of hierarchies by name, each followed by what inherits from
//      it.

import CairnModel

/// The entities of a model by their numbers in a store.
struct EntityNumbers {
    /// Entities of the schema, by number.
    private(set) var entities: [Int: Int] = [:]
    /// Numbers, by entity of the schema.
    private(set) var numbers: [Int: Int] = [:]

    init(_ schema: Schema, in source: CoreDataSource) throws(CoreDataImportError) {
        let known = Set(source.entities.map(\.name))
        var unknown: [SourceEntity] = []
        for entity in source.entities {
            if let own = schema.entity(named: entity.name) {
                set(own.index, entity.number)
            } else {
                unknown.append(entity)
            }
        }
        guard !unknown.isEmpty else { return }
        let expected = Self.expectedNumbers(schema)
        for entity in unknown {
            let renamed = schema.entities.first {
                $0.description.renamingIdentifier == entity.name && !known.contains($0.name)
            }
            let place = expected[entity.number].map { schema.entities[$0] }
            guard
                let own = renamed ?? place.flatMap({ known.contains($0.name) ? nil : $0 }),
                numbers[own.index] == nil
            else {
                throw CoreDataImportError(
                    .wrongModel,
                    "the store has an entity \(entity.name), but the model does not",
                    at: "\(source.path), Z_PRIMARYKEY")
            }
            set(own.index, entity.number)
        }
    }

    private mutating func set(_ entity: Int, _ number: Int) {
        entities[number] = entity
        numbers[entity] = number
    }

    /// The entities of a schema by the numbers that Core Data gives them.
    private static func expectedNumbers(_ schema: Schema) -> [Int: Int] {
        var result: [Int: Int] = [:]
        var number = 0
        func add(_ entities: [SchemaEntity]) {
            for entity in entities.sorted(by: { $0.name < $1.name }) {
                number += 1
                result[number] = entity.index
                add(schema.entities.filter { $0.parent == entity.index })
            }
        }
        add(schema.entities.filter { $0.parent == nil })
        return result
    }

    /// Entities in the order of their numbers, those without one last.
    func ordered(_ entities: [Int]) -> [Int] {
        entities.sorted { (numbers[$0] ?? .max, $0) < (numbers[$1] ?? .max, $1) }
    }
}
