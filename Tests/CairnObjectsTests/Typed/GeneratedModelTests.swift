// The classes that the tool makes of a model describe that model.
//
// What classes cannot say is taken out of the model before both are compared; `Said` lists it.

import Cairn
import CairnTestSupport
import Foundation
import Testing

@testable import CairnGeneratedModels
@testable import CairnObjects

/// A model as classes say it, of which the rest is taken out:
///
///   - names of classes with their modules, user info, and marks of Xcode's own
///   - whether accessors are to use scalar types: an optional says more
///   - fetched properties; transient relationships, and transient attributes of no type or of several values
///   - transformable attributes: a collection of values becomes JSON, anything else bytes
///   - composites: the names of those that have none; of their elements everything but name, type and default, and that if
///     the attribute may be nil; composites without elements
///   - the names and old forms of indexes, their conditions, keys that are no properties, kinds that are not ordered, and
///     the direction of an index that falls as a whole stays
///   - which side of a relationship names the inverse: the schemas are compared for that
///   - the counts of a to-one relationship, which mean nothing
///   - defaults that are bytes
private struct Said {
    /// What properties are called in Swift, where that is not what the model says.
    var renamed: [String: [String: String]] = [:]
    /// Derivations that name such a property, as the classes say them.
    var derivations: [String: String] = [:]

    func entity(_ entity: EntityDescription) -> EntityDescription {
        var said = entity
        said.managedObjectClassName = nil
        said.userInfo = [:]
        said.otherMarks = [:]
        said.fetchedProperties = []
        said.attributes = entity.attributes.compactMap { attribute($0, of: entity.name) }
        said.relationships = entity.relationships.filter { !$0.isTransient }.map {
            relationship($0, of: entity.name)
        }
        said.uniquenessConstraints = entity.uniquenessConstraints.map {
            $0.map { path($0, of: entity.name) }
        }
        said.indexes = []
        for index in entity.indexes
        where index.elements.allSatisfy({ $0.propertyName != nil && $0.kind == .binary }) {
            let elements = index.elements.map { element in
                FetchIndexDescription.Element(
                    path(element.propertyName ?? "", of: entity.name),
                    ascending: element.isAscending)
            }
            said.indexes.append(FetchIndexDescription("", elements: elements))
        }
        return said
    }

    /// The name of a column, which is a dotted path if it is an element's.
    private func path(_ column: String, of entity: String) -> String {
        if let name = renamed[entity]?[column] { return name }
        let steps = column.split(separator: ".").map(String.init)
        let first = steps.prefix(1).map { renamed[entity]?[$0] ?? $0 }
        let rest = steps.dropFirst().map { renamed["elements"]?[$0] ?? $0 }
        return (first + rest).joined(separator: ".")
    }

    private func attribute(_ attribute: AttributeDescription, of entity: String)
        -> AttributeDescription?
    {
        if attribute.type == .undefined || attribute.type == .objectID { return nil }
        if attribute.type == .composite, attribute.isTransient { return nil }
        var said = attribute
        said.userInfo = [:]
        said.otherMarks = [:]
        said.usesScalarValueType = false
        if let name = renamed[entity]?[attribute.name] {
            said.name = name
            said.renamingIdentifier = attribute.name
        }
        said.derivationExpression = attribute.derivationExpression.map { derivations[$0] ?? $0 }
        if attribute.type == .transformable {
            let isCollection = attribute.customClassName?.contains("[") == true
            said.customClassName = nil
            said.type = isCollection ? .transformable : .binary
            said.valueTransformerName = isCollection ? "CairnJSON" : nil
            said.defaultValue = .null
        }
        if attribute.type != .binary, attribute.type != .transformable {
            said.allowsExternalBinaryDataStorage = false
        }
        if attribute.type != .string {
            said.minimumLength = nil
            said.maximumLength = nil
        }
        if case .binary(let data) = said.defaultValue, !data.isEmpty { said.defaultValue = .null }
        said.compositeName = nil
        said.elements = attribute.elements.compactMap {
            element($0, inOptional: attribute.isOptional)
        }
        return said.type == .composite && said.elements.isEmpty ? nil : said
    }

    private func element(_ element: AttributeDescription, inOptional: Bool)
        -> AttributeDescription?
    {
        var said = AttributeDescription(
            renamed["elements"]?[element.name] ?? element.name, element.type,
            optional: element.isOptional)
        if !inOptional { said.defaultValue = element.defaultValue }
        if element.type == .transformable { said.valueTransformerName = "CairnJSON" }
        said.elements = element.elements.compactMap {
            self.element($0, inOptional: inOptional || element.isOptional)
        }
        return said.type == .composite && said.elements.isEmpty ? nil : said
    }

    private func relationship(_ relationship: RelationshipDescription, of entity: String)
        -> RelationshipDescription
    {
        var said = relationship
        said.userInfo = [:]
        said.otherMarks = [:]
        said.inverseName = nil
        if !said.isToMany { said.minimumCount = 0 }
        if let name = renamed[entity]?[relationship.name] {
            said.name = name
            said.renamingIdentifier = relationship.name
        }
        return said
    }
}

@Suite("Classes that the tool made of a model")
struct GeneratedModelTests {
    private static let library: [any PersistentEntity.Type] = [
        LibraryItem.self, Book.self, Magazine.self, Author.self, Shelf.self, Loan.self,
    ]
    private static let inventory: [any PersistentEntity.Type] = [Part.self, Kit.self]

    private static let harbours: [any PersistentEntity.Type] = [
        Harbour.self, Ship.self, Ferry.self, Voyage.self,
    ]

    private static let names: [any PersistentEntity.Type] = [
        DataObject.self, SetObject.self, CairnGeneratedModels.Collection.self,
        CairnGeneratedModels.TimeZone.self, TaskObject.self, Attribute.self, Entity.self,
        Relationship.self, Index.self, ValueObject.self, ColumnsObject.self,
        MeasuredThing.self, Entity3DModel.self, Station.self, Shared.self, Child.self,
        Generic.self, Keywords.self, Members.self, Texts.self,
    ]

    private static func url(_ model: String) -> URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Models/\(model)")
    }

    /// Compares the schema of a model with that of classes, entity by entity.
    private func compare(
        _ model: ManagedObjectModel, _ classes: [any PersistentEntity.Type], _ said: Said = Said()
    ) throws {
        let made = ManagedObjectModel(for: classes)
        try #require(made.entities.map(\.name) == model.entities.map(\.name))
        for (entity, other) in zip(model.entities, made.entities) {
            var other = other
            for index in other.indexes.indices { other.indexes[index].name = "" }
            for index in other.attributes.indices { Self.forgetNames(&other.attributes[index]) }
            for index in other.relationships.indices {
                other.relationships[index].inverseName = nil
            }
            other.managedObjectClassName = nil
            let expected = said.entity(entity)
            // One by one, so that what differs is seen.
            for (one, another) in zip(expected.attributes, other.attributes) {
                #expect(one == another, "\(entity.name).\(one.name)")
            }
            for (one, another) in zip(expected.relationships, other.relationships) {
                #expect(one == another, "\(entity.name).\(one.name)")
            }
            #expect(expected.indexes == other.indexes, "\(entity.name)")
            #expect(expected == other, "\(entity.name)")
        }
        try compareInverses(try Schema(model), try Schema(made), said)
    }

    private static func forgetNames(_ attribute: inout AttributeDescription) {
        attribute.compositeName = nil
        for index in attribute.elements.indices { forgetNames(&attribute.elements[index]) }
    }

    /// Inverses, and where members are kept.
    private func compareInverses(_ schema: Schema, _ made: Schema, _ said: Said) throws {
        func inverses(_ schema: Schema, _ renamed: [String: [String: String]]) -> [String] {
            schema.entities.flatMap { entity in
                entity.relationships.filter { !$0.description.isTransient }.map { relationship in
                    let inverse = relationship.inverse.map { index in
                        let other = schema.entities[relationship.destination].relationships[index]
                        let owner = schema.entities[other.declaringEntity].name
                        return
                            "\(owner).\(renamed[owner]?[other.description.name] ?? other.description.name)"
                    }
                    let owner = schema.entities[relationship.declaringEntity].name
                    let name = relationship.description.name
                    return
                        "\(entity.name).\(renamed[owner]?[name] ?? name) → \(inverse ?? "nothing")"
                }
            }
        }
        #expect(inverses(schema, said.renamed) == inverses(made, [:]))
        #expect(schema.pairs.count == made.pairs.count)
    }

    @Test("describe it: inheritance, composites, derived, transient and transformable attributes")
    func library() throws {
        let model = try ManagedObjectModel(contentsOf: Self.url("Library.xcdatamodeld"))
        try compare(model, Self.library)
        #expect(Spot._compositeName == "Spot" && Position._compositeName == "Position")
        #expect(LibraryItem.entityName == "Item")
    }

    @Test("describe it: pairs of relationships that are named on both sides")
    func harbours() throws {
        try compare(
            try ManagedObjectModel(contentsOf: Self.url("Harbours.xcdatamodel")), Self.harbours)
    }

    @Test("describe it: composites without names, odd limits, and values that are hard to write")
    func inventory() throws {
        let text = try String(contentsOf: Self.url("Inventory.json"), encoding: .utf8)
        try compare(
            try ManagedObjectModel(json: text), Self.inventory,
            Said(renamed: ["Part": ["description": "description_"]]))
    }

    @Test("describe it: names that Swift, Foundation or every object has already")
    func names() throws {
        let model = try ManagedObjectModel(contentsOf: Self.url("Names.xcdatamodel"))
        let classes = Self.names
        var renamed: [String: [String: String]] = [
            "Columns": ["Columns": "Columns_"],
            "Relationship": ["entity": "entity_", "description": "description_"],
            "Parent": ["Shared": "Shared_"], "Task": ["its own": "itsOwn"],
            "Child": ["objectID": "objectID__"],
            "elements": ["hashValue": "hashValue_", "a \"quote\"": "aQuote"],
            "Texts": [
                "a.b": "aB", "a `tick`": "aTick", "back\\slash": "backSlash", "-minus": "minus",
                "$price": "price", "_": "value", "+": "value_",
            ],
        ]
        let members = try #require(model.entity(named: "Members"))
        for name in members.attributes.map(\.name)
        where ManagedObjectModel(for: Members.self).entities[0].attributes.allSatisfy({
            $0.name != name
        }) {
            renamed["Members", default: [:]][name] = name + "_"
        }
        #expect(renamed["Members"]?["description"] != nil && renamed["Members"]?["value"] == nil)
        let derivations = [
            "canonical:(description)": "canonical:(description_)",
            "uppercase:(relationship.description)": "uppercase:(relationship.description_)",
            "entity.@count": "entity_.@count", "uppercase:(Shared)": "uppercase:(Shared_)",
        ]
        try compare(model, classes, Said(renamed: renamed, derivations: derivations))
        // Whoever computes them finds what they name.
        let schema = try Schema(ManagedObjectModel(for: classes))
        for (name, count) in ["Members": 1, "Entity": 1, "Relationship": 1, "Child": 1, "Data": 1] {
            let entity = try #require(schema.entity(named: name))
            #expect(schema.derivations.entities[entity.index].count == count, "\(name)")
        }
        let description = ManagedObjectModel(for: Members.self).entities[0].attributes[0]
        #expect(
            description.name == "description_" && description.renamingIdentifier == "description")
    }

    @Test(
        "fit the model's own schema as well", arguments: ["Library.xcdatamodeld", "Inventory.json"])
    func binding(_ name: String) throws {
        let isLibrary = name.hasPrefix("Library")
        let model =
            isLibrary
            ? try ManagedObjectModel(contentsOf: Self.url(name))
            : try ManagedObjectModel(json: String(contentsOf: Self.url(name), encoding: .utf8))
        let schema = try Schema(model)
        for type in isLibrary ? Self.library : Self.inventory {
            let entity = try #require(schema.entity(named: type.entityName))
            let missing = EntityBinding(entity, type._typedEntity).missingProperty
            #expect(missing == (isLibrary ? nil : "description_"), "\(type)")
        }
    }

    @Test("hold objects of a store that has the model's own schema")
    func objects() throws {
        let model = try ManagedObjectModel(contentsOf: Self.url("Library.xcdatamodeld"))
        let store = try LogStore.inMemory(schema: try Schema(model))
        let context = ManagedObjectContext(
            store: store, classes: ObjectClasses(for: Self.library))
        let book = context.insert(Book.self)
        book.code = "AB-1"
        book.title = "Cairns"
        book.spot = Spot(room: "attic", position: Position(row: 2, column: nil))
        book.keywords = ["stone", "way"]
        book.selection = 4
        book.opinion = "good"
        let author = context.insert(Author.self)
        author.name = "Anna"
        book.authors = [author]
        let shelf = context.insert(Shelf.self)
        shelf.label = "S"
        shelf.items.insert(book)
        #expect(book.copies == 1 && book.price == Decimal(string: "9.95") && book.isLent == false)
        #expect(book.token.uuidString == "6F9619FF-8B86-D011-B42D-00CF4FC964FF")
        #expect(book.acquired == Date(timeIntervalSinceReferenceDate: 631_152_000))
        try context.save()
        context.reset()
        let request = try FetchRequest<LibraryItem>(#Predicate { $0.code == "AB-1" })
        let found = try #require(try context.fetch(request).first as? Book)
        #expect(found.shelf?.label == "S" && found.authors.map(\.name) == ["Anna"])
        #expect(found.spot?.position.row == 2 && found.keywords == ["stone", "way"])
        #expect(found.selection == 3 && found.opinion == nil)
        #expect(found.authors.first?.books == [found])
    }

    @Test("open a store that the model made, if they say all that is stored")
    func opening() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("harbours.cairn")
        let model = try ManagedObjectModel(contentsOf: Self.url("Harbours.xcdatamodel"))
        try LogStore.open(at: path, schema: try Schema(model)).close()
        let container = try PersistentContainer(
            at: path, for: Harbour.self, Ship.self, Ferry.self, Voyage.self)
        let context = ManagedObjectContext(store: container.store, classes: container.classes)
        let harbour = context.insert(Harbour.self)
        harbour.name = "Ærø"
        harbour.light = Bearing(degrees: 12, distance: nil)
        let ferry = context.insert(Ferry.self)
        ferry.crew = ["Anna"]
        ferry.home = harbour
        let voyage = context.insert(Voyage.self)
        voyage.code = "1"
        voyage.ships = [ferry]
        try context.save()
        #expect(harbour.ships == [ferry] && ferry.voyages == [voyage])
        #expect(harbour.folded != nil)
    }

    @Test(
        "open a store that the model made exactly if the file's head says so",
        arguments: ["Library", "Inventory", "Names", "Harbours"])
    func heads(_ name: String) throws {
        let text = try String(
            contentsOf: Self.url("../CairnGeneratedModels/\(name).swift"), encoding: .utf8)
        let head = text.prefix(upTo: try #require(text.range(of: "import Cairn")).lowerBound)
        let directory = try TemporaryDirectory()
        let path = directory.path("store")
        let model =
            switch name {
            case "Library": try ManagedObjectModel(contentsOf: Self.url("Library.xcdatamodeld"))
            case "Inventory":
                try ManagedObjectModel(
                    json: String(contentsOf: Self.url("Inventory.json"), encoding: .utf8))
            default: try ManagedObjectModel(contentsOf: Self.url("\(name).xcdatamodel"))
            }
        try LogStore.open(at: path, schema: try Schema(model)).close()
        let classes =
            switch name {
            case "Library": Self.library
            case "Inventory": Self.inventory
            case "Names": Self.names
            default: Self.harbours
            }
        var opens = true
        do {
            try LogStore.open(at: path, schema: try Schema(ManagedObjectModel(for: classes)))
                .close()
        } catch let error as StoreError {
            #expect(error.code == .incompatibleModel)
            opens = false
            // These are what the head says.
            for entity in "\(error)".split(whereSeparator: { !$0.isLetter && $0 != "3" })
            where model.entity(named: String(entity)) != nil {
                #expect(head.contains(entity), "\(entity)")
            }
        }
        #expect(head.contains("classes: ObjectClasses(for:") == !opens)
    }
}
