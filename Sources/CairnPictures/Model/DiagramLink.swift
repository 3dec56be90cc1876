// What joins two boxes of a diagram.
//
//   1. A relationship and its inverse are one link. The inverse may be declared by an entity that the destination inherits
//      from.
//   2. An entity that inherits is linked with its parent, unless that has so many children that the picture would show
//      little else: their boxes name it anyway.

/// Something that joins two boxes.
struct DiagramLink {
    /// One end: an entity, and the relationship that the link belongs to there.
    struct End {
        let entity: Int
        let relationship: Int?
    }

    let from: End
    let to: End
    let isInheritance: Bool

    /// So many children of one parent are linked with it.
    private static let mostChildren = 12

    /// The links of a diagram.
    static func all(of diagram: ModelDiagram) -> [DiagramLink] {
        // Of two entities of one name, as no model has them, the first is meant.
        let indexes = Dictionary(
            diagram.entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: min)
        return inheritance(diagram, indexes) + relationships(diagram, indexes)
    }

    private static func inheritance(_ diagram: ModelDiagram, _ indexes: [String: Int])
        -> [DiagramLink]
    {
        var children: [Int: [Int]] = [:]
        for (index, entity) in diagram.entities.enumerated() {
            guard let parent = entity.parent.flatMap({ indexes[$0] }), parent != index else {
                continue
            }
            children[parent, default: []].append(index)
        }
        return children.sorted { $0.key < $1.key }.filter { $0.value.count <= mostChildren }
            .flatMap { parent, children in
                children.map {
                    DiagramLink(
                        from: End(entity: parent, relationship: nil),
                        to: End(entity: $0, relationship: nil), isInheritance: true)
                }
            }
    }

    private static func relationships(_ diagram: ModelDiagram, _ indexes: [String: Int])
        -> [DiagramLink]
    {
        var isDone = diagram.entities.map {
            [Bool](repeating: false, count: $0.relationships.count)
        }
        var links: [DiagramLink] = []
        for (index, entity) in diagram.entities.enumerated() {
            for (number, relationship) in entity.relationships.enumerated()
            where !isDone[index][number] {
                guard let destination = indexes[relationship.destination] else { continue }
                isDone[index][number] = true
                let from = End(entity: index, relationship: number)
                var to = End(entity: destination, relationship: nil)
                if let inverse = relationship.inverse,
                    let found = find(inverse, from: destination, in: diagram, indexes),
                    let back = found.relationship,
                    diagram.entities[found.entity].relationships[back].inverse == relationship.name,
                    found.entity != index || back != number, !isDone[found.entity][back]
                {
                    isDone[found.entity][back] = true
                    to = found
                }
                links.append(DiagramLink(from: from, to: to, isInheritance: false))
            }
        }
        return links
    }

    /// The relationship of that name, of an entity or the nearest one that it inherits from.
    private static func find(
        _ name: String, from entity: Int, in diagram: ModelDiagram, _ indexes: [String: Int]
    ) -> End? {
        var next: Int? = entity
        var seen: Set<Int> = []
        while let index = next, seen.insert(index).inserted {
            let entity = diagram.entities[index]
            if let number = entity.relationships.firstIndex(where: { $0.name == name }) {
                return End(entity: index, relationship: number)
            }
            next = entity.parent.flatMap { indexes[$0] }
        }
        return nil
    }
}
