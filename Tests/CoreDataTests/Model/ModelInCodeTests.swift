// Models that programs make in code.

import CoreData
import Testing

@Suite("Models in code")
struct ModelInCodeTests {
    /// A library as an app describes it.
    static func library() -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        let author = NSEntityDescription()
        author.name = "Author"
        author.managedObjectClassName = NSStringFromClass(Author.self)
        let book = NSEntityDescription()
        book.name = "Book"
        book.managedObjectClassName = "Book"

        let name = NSAttributeDescription()
        name.name = "name"
        name.attributeType = .stringAttributeType
        name.isOptional = false
        let title = NSAttributeDescription()
        title.name = "title"
        title.type = .string
        title.setValidationPredicates(
            [NSPredicate(format: "length >= 1"), NSPredicate(format: "length <= 80")],
            withValidationWarnings: nil)
        let price = NSAttributeDescription()
        price.name = "price"
        price.type = .decimal
        price.defaultValue = NSDecimalNumber(string: "9.5")
        let copies = NSAttributeDescription()
        copies.name = "copies"
        copies.type = .integer16
        copies.defaultValue = 3

        let books = NSRelationshipDescription()
        books.name = "books"
        let writer = NSRelationshipDescription()
        writer.name = "author"
        books.destinationEntity = book
        books.inverseRelationship = writer
        books.minCount = 0
        books.maxCount = 0
        books.deleteRule = .cascadeDeleteRule
        writer.destinationEntity = author
        writer.inverseRelationship = books
        writer.maxCount = 1
        writer.deleteRule = .nullifyDeleteRule

        author.properties = [name, books]
        author.uniquenessConstraints = [["name"]]
        book.properties = [title, price, copies, writer]
        book.indexes = [
            NSFetchIndexDescription(
                name: "byTitle",
                elements: [NSFetchIndexElementDescription(property: title, collationType: .binary)])
        ]
        model.entities = [author, book]
        return model
    }

    final class Author: NSManagedObject {}
    final class Book: NSManagedObject {}

    @Test(
        "a copy of a relationship leads back by name, although nothing holds what it was copied from"
    )
    func copiedInverse() throws {
        let shelf = NSEntityDescription()
        shelf.name = "CopiedShelf"
        let book = NSEntityDescription()
        book.name = "CopiedBook"
        do {
            let place = NSRelationshipDescription()
            place.name = "place"
            place.maxCount = 1
            place.destinationEntity = shelf
            let content = NSRelationshipDescription()
            content.name = "content"
            content.destinationEntity = book
            content.inverseRelationship = place
            place.inverseRelationship = content
            let copies = [place, content].map { $0.copy() as! NSRelationshipDescription }
            book.properties = [copies[0]]
            shelf.properties = [copies[1]]
        }
        let model = NSManagedObjectModel()
        model.entities = [shelf, book]
        let context = try Stack.inMemory(model).viewContext
        let one = NSEntityDescription.insertNewObject(forEntityName: "CopiedShelf", into: context)
        let other = NSEntityDescription.insertNewObject(forEntityName: "CopiedBook", into: context)
        other.setValue(one, forKey: "place")
        #expect((one.value(forKey: "content") as? NSSet)?.count == 1)
    }

    @Test("is the model of the same file")
    func sameAsFile() throws {
        let xml = """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model>
                <entity name="Author" representedClassName="\(NSStringFromClass(Author.self))">
                    <attribute name="name" attributeType="String"/>
                    <relationship name="books" optional="YES" toMany="YES" deletionRule="Cascade" \
            destinationEntity="Book" inverseName="author" inverseEntity="Book"/>
                    <uniquenessConstraints><uniquenessConstraint><constraint value="name"/>\
            </uniquenessConstraint></uniquenessConstraints>
                </entity>
                <entity name="Book" representedClassName="Book">
                    <attribute name="title" optional="YES" attributeType="String" \
            minValueString="1" maxValueString="80"/>
                    <attribute name="price" optional="YES" attributeType="Decimal" \
            defaultValueString="9.5"/>
                    <attribute name="copies" optional="YES" attributeType="Integer 16" \
            defaultValueString="3"/>
                    <relationship name="author" optional="YES" maxCount="1" \
            deletionRule="Nullify" destinationEntity="Author" inverseName="books" \
            inverseEntity="Author"/>
                    <fetchIndex name="byTitle"><fetchIndexElement property="title" type="Binary" \
            order="ascending"/></fetchIndex>
                </entity>
            </model>
            """
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("\(UUID().uuidString).xcdatamodel")
        defer { try? FileManager.default.removeItem(at: file) }
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
        try Data(xml.utf8).write(to: file.appendingPathComponent("contents"))

        let read = try #require(NSManagedObjectModel(contentsOf: file))
        let made = Self.library()
        #expect(read == made)
        #expect(read.entityVersionHashesByName == made.entityVersionHashesByName)
        #expect(read.versionChecksum == made.versionChecksum)
        let predicates = read.entitiesByName["Book"]?.attributesByName["title"]?
            .validationPredicates.map(\.description)
        #expect(predicates == ["length >= 1", "length <= 80"])
        #expect(
            read.entitiesByName["Book"]?.attributesByName["title"]?.validationWarnings as? [Int]
                == [NSValidationStringTooShortError, NSValidationStringTooLongError])
        #expect(
            read.entitiesByName["Book"]?.attributesByName["copies"]?.defaultValue as? Int16 == 3)
    }

    @Test("makes objects of its classes")
    func objects() throws {
        let container = try Stack.inMemory(Self.library())
        let context = container.viewContext
        let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
        #expect(author is Author)
        let entity = try #require(NSEntityDescription.entity(forEntityName: "Book", in: context))
        let book = NSManagedObject(entity: entity, insertInto: context)
        #expect(book.entity === entity)
        #expect(book.entity.isKindOf(entity: entity))
        #expect(book.value(forKey: "copies") as? Int == 3)
        #expect(Author.entity().name == "Author")
    }

    @Test("says what is wrong with it, and where")
    func wrong() throws {
        let model = Self.library()
        let price = try #require(model.entitiesByName["Book"]?.attributesByName["price"])
        price.defaultValue = "cheap"
        #expect {
            try model.resolved()
        } throws: {
            "\($0)" == "Book.price: the default cheap is not a value of type decimal"
        }
        // It is not in use then, and can be mended.
        price.defaultValue = 4
        model.entitiesByName["Book"]?.relationshipsByName["author"]?.destinationEntity = nil
        #expect {
            try model.resolved()
        } throws: {
            "\($0)".hasPrefix("Book.author: the relationship has no destination entity")
        }
    }

    @Test("leads from the entity to what it has and where it is")
    func navigation() throws {
        let model = Self.library()
        let author = try #require(model.entitiesByName["Author"])
        let book = try #require(model.entitiesByName["Book"])
        #expect(author.managedObjectModel === model)
        #expect(author.relationships(forDestination: book).map(\.name) == ["books"])
        #expect(author.relationshipsByName["books"]?.isToMany == true)
        #expect(author.relationshipsByName["books"]?.inverseRelationship?.entity === book)
        #expect(book.attributesByName["title"]?.attributeValueClassName == "NSString")
        #expect(book.attributesByName["title"]?.renamingIdentifier == "title")
        #expect(book.managedObjectClassName == "Book")
        #expect(NSEntityDescription().managedObjectClassName == "NSManagedObject")
    }

    @Test("gives its entities what they inherit")
    func inheritance() throws {
        let base = NSEntityDescription()
        base.name = "Base"
        base.isAbstract = true
        let id = NSAttributeDescription()
        id.name = "id"
        id.type = .uuid
        base.properties = [id]
        let derived = NSEntityDescription()
        derived.name = "Derived"
        let text = NSAttributeDescription()
        text.name = "text"
        text.type = .string
        derived.properties = [text]
        base.subentities = [derived]
        let model = NSManagedObjectModel()
        model.entities = [base, derived]

        #expect(derived.superentity === base)
        #expect(derived.isKindOf(entity: base))
        #expect(!base.isKindOf(entity: derived))
        #expect(derived.properties.map(\.name) == ["id", "text"])
        derived.properties = derived.properties.reversed()
        #expect(derived.properties.map(\.name) == ["id", "text"])
        #expect(base.subentitiesByName["Derived"] === derived)
        let container = try Stack.inMemory(model)
        let object = NSEntityDescription.insertNewObject(
            forEntityName: "Derived", into: container.viewContext)
        #expect(Set(object.entity.attributesByName.keys) == ["id", "text"])
        #expect(object.entity.superentity === base)
    }

    @Test("a copy can be changed, and is equal until it is")
    func copies() throws {
        let model = Self.library()
        model.entities[0].userInfo = ["order": 3, "note": "kept"]
        _ = try Stack.inMemory(model)
        let copy = try #require(model.copy() as? NSManagedObjectModel)
        #expect(copy == model)
        #expect(copy.entities[0].userInfo?["order"] as? Int == 3)
        #expect(copy.entities[0] !== model.entities[0])
        #expect(copy.entities[0].managedObjectModel === copy)
        let year = NSAttributeDescription()
        year.name = "year"
        year.type = .integer32
        copy.entitiesByName["Book"]?.properties.append(year)
        #expect(copy != model)
        #expect(
            copy.entityVersionHashesByName["Author"] == model.entityVersionHashesByName["Author"])
        #expect(copy.entityVersionHashesByName["Book"] != model.entityVersionHashesByName["Book"])
        _ = try Stack.inMemory(copy)
    }

    @Test("a model in use cannot be changed")
    func immutable() async {
        await #expect(processExitsWith: .failure) {
            let model = ModelInCodeTests.library()
            _ = NSPersistentStoreCoordinator(managedObjectModel: model)
            model.entities[0].attributesByName["name"]?.isOptional = true
        }
        await #expect(processExitsWith: .failure) {
            let model = ModelInCodeTests.library()
            _ = NSPersistentStoreCoordinator(managedObjectModel: model)
            model.entities = []
        }
    }

    @Test("a model that is dropped goes, with all its parts")
    func leaks() throws {
        weak var model: NSManagedObjectModel?
        weak var entity: NSEntityDescription?
        weak var property: NSPropertyDescription?
        weak var used: NSManagedObjectModel?
        do {
            let made = Self.library()
            model = made
            entity = made.entities[1]
            property = made.entities[1].properties[3]
            let other = Self.library()
            used = other
            let container = try Stack.inMemory(other)
            #expect(container.viewContext.persistentStoreCoordinator != nil)
            withExtendedLifetime(made) {}
        }
        #expect(model == nil)
        #expect(entity == nil)
        #expect(property == nil)
        #expect(used == nil)
    }

    @Test("configurations are some of the entities")
    func configurations() throws {
        let model = Self.library()
        model.setEntities([model.entities[1]], forConfigurationName: "Shelf")
        #expect(model.configurations == ["PF_DEFAULT_CONFIGURATION_NAME", "Shelf"])
        #expect(model.entities(forConfigurationName: "Shelf")?.map(\.name) == ["Book"])
        #expect(model.entities(forConfigurationName: nil)?.count == 2)
        #expect(model.entities(forConfigurationName: "None") == nil)
        let hashes = [NSStoreModelVersionHashesKey: model.entityVersionHashesByName]
        #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: hashes))
        #expect(model.isConfiguration(withName: "Shelf", compatibleWithStoreMetadata: hashes))
        let copy = try #require(model.copy() as? NSManagedObjectModel)
        copy.entities[1].versionHashModifier = "2"
        #expect(!copy.isConfiguration(withName: nil, compatibleWithStoreMetadata: hashes))
        #expect(copy.entities(forConfigurationName: "Shelf")?.map(\.name) == ["Book"])
    }
}
