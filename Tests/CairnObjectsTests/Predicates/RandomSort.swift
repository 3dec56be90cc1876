// Random orders of the objects of an entity.

import CairnModel
import CairnTestSupport

struct RandomSort {
    let schema: Schema

    /// Up to three keys; often those of an index, as they are or the other way round.
    func keys(_ entity: SchemaEntity, _ random: inout RandomSource) -> [SortKey] {
        if random.oneIn(4),
            let index = entity.description.indexes.randomElement(using: &random)
        {
            let isForward = random.oneIn(2)
            return index.elements.compactMap { element in
                element.propertyName.map {
                    SortKey(
                        $0, ascending: element.isAscending == isForward, nulls: nulls(&random))
                }
            }
        }
        return (0..<Int.random(in: 0...3, using: &random)).compactMap { _ in key(entity, &random) }
    }

    /// A property of the object, or of one that a to-one relationship or two lead to.
    func key(_ entity: SchemaEntity, _ random: inout RandomSource) -> SortKey? {
        var entity = entity
        var names: [String] = []
        for _ in 0..<2 where random.oneIn(3) {
            let steps = entity.relationships.filter { !$0.description.isToMany }
            guard let step = steps.randomElement(using: &random) else { break }
            names.append(step.description.name)
            entity = schema.entities[step.destination]
        }
        guard let column = entity.columns.randomElement(using: &random) else { return nil }
        var key = SortKey(
            (names + [column.name]).joined(separator: "."), ascending: random.oneIn(2),
            nulls: nulls(&random))
        if column.kind == .attribute(.string) {
            key.comparison = RandomValue.pick(SortKey.Comparison.allCases, &random)
        }
        return key
    }

    private func nulls(_ random: inout RandomSource) -> SortKey.NullsPosition? {
        random.oneIn(3) ? RandomValue.pick(SortKey.NullsPosition.allCases, &random) : nil
    }
}
