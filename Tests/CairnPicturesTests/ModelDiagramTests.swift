// Models as diagrams.

import Testing

@testable import CairnPictures

@Suite("Model diagrams")
struct ModelDiagramTests {
    private static func entity(
        _ name: String, parent: String? = nil, _ relationships: (String, String, String?, Bool)...
    ) -> ModelDiagram.Entity {
        var entity = ModelDiagram.Entity(name)
        entity.parent = parent
        entity.relationships = relationships.map { name, destination, inverse, isToMany in
            var relationship = ModelDiagram.Relationship(
                name, to: destination, arity: isToMany ? "0..*" : "0..1")
            relationship.inverse = inverse
            relationship.isToMany = isToMany
            return relationship
        }
        return entity
    }

    private static func links(_ entities: ModelDiagram.Entity...) -> [String] {
        DiagramLink.all(of: ModelDiagram(entities)).map { link in
            [link.from, link.to].map { end in
                let entity = entities[end.entity]
                return entity.name
                    + (end.relationship.map { ".\(entity.relationships[$0].name)" } ?? "")
            }.joined(separator: link.isInheritance ? " < " : " - ")
        }
    }

    @Test("a relationship and its inverse are one link")
    func inverse() {
        let links = Self.links(
            Self.entity("Author", ("books", "Book", "author", true)),
            Self.entity(
                "Book", ("author", "Author", "books", false), ("seller", "Shop", nil, false)),
            Self.entity("Shop"))
        #expect(links == ["Author.books - Book.author", "Book.seller - Shop"])
    }

    @Test("an inverse may be declared further up, and a relationship may be its own")
    func inherited() {
        let links = Self.links(
            Self.entity(
                "Owner", ("pets", "Dog", "owner", true), ("friends", "Owner", "friends", true)),
            Self.entity("Animal", ("owner", "Owner", "pets", false)),
            Self.entity("Dog", parent: "Animal"),
            Self.entity("Lost", parent: "Gone", ("to", "Gone", nil, true)))
        #expect(
            links == ["Animal < Dog", "Owner.pets - Animal.owner", "Owner.friends - Owner"])
    }

    @Test("entities that inherit in a circle, as no model has them, are no trouble")
    func circle() throws {
        let diagram = ModelDiagram([
            Self.entity("A", parent: "B", ("x", "B", "y", true)), Self.entity("B", parent: "A"),
            Self.entity("C", parent: "C"),
        ])
        _ = try PictureText(diagram.picture())
    }

    @Test("a parent of very many is named in their boxes, without lines")
    func manyChildren() {
        let children = (0..<40).map { Self.entity("Child\($0)", parent: "Base") }
        let diagram = ModelDiagram([Self.entity("Base")] + children)
        #expect(DiagramLink.all(of: diagram).isEmpty)
    }

    @Test("boxes show what an entity has, and the rest under the pointer")
    func rows() throws {
        var entity = ModelDiagram.Entity("Airport")
        entity.attributes = (0..<30).map { .init("field\($0)", type: "string?") }
        entity.attributes[0].isKey = true
        entity.rules = [.init("unique field0")]
        entity.note = "57"
        let text = try PictureText(ModelDiagram([entity]).picture(mostAttributes: 5))
        let words = text.all("text").map(\.text)
        for word in [
            "Airport", "57", "◆ field0", "field4", "… 25 more attributes", "unique field0",
        ] {
            #expect(words.contains(word), "\(word)")
        }
        #expect(!words.contains("field5"))
        #expect(text.all("title").contains { $0.text.contains("field29: string?") })
    }

    @Test("what changed is shown before what did not, with a sign beside the colour")
    func changes() throws {
        var entity = ModelDiagram.Entity("Airport")
        entity.change = .changed
        entity.attributes = (0..<30).map { .init("field\($0)", type: "string?") }
        entity.attributes[29].change = .removed
        var added = ModelDiagram.Entity("Runway")
        added.change = .added
        let diagram = ModelDiagram([entity, added], comparedWith: "version 1")
        let picture = diagram.picture(mostAttributes: 3)
        let words = try PictureText(picture).all("text").map(\.text)
        for word in ["~ Airport", "+ Runway", "− field29", "field0"] {
            #expect(words.contains(word), "\(word)")
        }
        #expect(picture.title == "The model, compared with version 1")
        #expect(picture.summary.contains("1 added, 0 removed, 1 changed"))
    }
}
