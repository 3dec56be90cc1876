// What models have beside entities with plain attributes and relationships.

import CoreData
import Testing

@Suite("Parts of models")
struct ModelPartsTests {
    @Test("fetch request templates take values for their variables")
    func templates() throws {
        let model = ModelInCodeTests.library()
        let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Book")
        request.predicate = NSPredicate(format: "title BEGINSWITH $START")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        request.fetchLimit = 2
        model.setFetchRequestTemplate(request, forName: "ByTitle")
        request.fetchLimit = 7
        #expect(model.fetchRequestTemplatesByName.keys.sorted() == ["ByTitle"])
        #expect(model.fetchRequestTemplate(forName: "ByTitle")?.fetchLimit == 2)
        #expect(model.fetchRequestTemplate(forName: "None") == nil)

        let context = try Stack.inMemory(model).viewContext
        for title in ["Ab", "Ac", "Ad", "B"] {
            NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
                .setValue(title, forKey: "title")
        }
        try context.save()
        let found = try #require(
            model.fetchRequestFromTemplate(
                withName: "ByTitle", substitutionVariables: ["START": "A"]))
        let books = try context.fetch(found) as? [NSManagedObject]
        #expect(books?.map { $0.value(forKey: "title") as? String } == ["Ab", "Ac"])
        let copy = try #require(model.copy() as? NSManagedObjectModel)
        copy.setFetchRequestTemplate(nil, forName: "ByTitle")
        #expect(copy.fetchRequestTemplatesByName.isEmpty)
        #expect(model.fetchRequestTemplatesByName.count == 1)
    }

    @Test("a fetched property finds, and does not keep its model")
    func fetched() throws {
        weak var dropped: NSManagedObjectModel?
        do {
            let model = ModelInCodeTests.library()
            dropped = model
            let request = NSFetchRequest<NSFetchRequestResult>()
            request.entity = model.entitiesByName["Book"]
            request.predicate = NSPredicate(format: "title == $FETCH_SOURCE.name")
            let namesakes = NSFetchedPropertyDescription()
            namesakes.name = "namesakes"
            namesakes.fetchRequest = request
            model.entitiesByName["Author"]?.properties.append(namesakes)
            // Information that nobody has set is empty, and can be added to.
            request.predicate = NSPredicate(
                format: "title CONTAINS[c] $FETCHED_PROPERTY.userInfo.search")
            let found = NSFetchedPropertyDescription()
            found.name = "found"
            found.fetchRequest = request
            found.userInfo?["search"] = "MM"
            model.entitiesByName["Author"]?.properties.append(found)
            #expect(namesakes.fetchRequest?.entity === model.entitiesByName["Book"])
            let context = try Stack.inMemory(model).viewContext
            let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
            author.setValue("Emma", forKey: "name")
            NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
                .setValue("Emma", forKey: "title")
            try context.save()
            #expect((author.value(forKey: "namesakes") as? [NSManagedObject])?.count == 1)
            #expect((author.value(forKey: "found") as? [NSManagedObject])?.count == 1)
            #expect(NSEntityDescription().userInfo?.isEmpty == true)
        }
        #expect(dropped == nil)
    }

    @Test("a derived attribute is computed when it is saved")
    func derived() throws {
        let model = ModelInCodeTests.library()
        let folded = NSDerivedAttributeDescription()
        folded.name = "folded"
        folded.type = .string
        folded.derivationExpression = NSExpression(format: "canonical:(title)")
        model.entitiesByName["Book"]?.properties.append(folded)
        let context = try Stack.inMemory(model).viewContext
        let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
        book.setValue("Émile", forKey: "title")
        try context.save()
        #expect(book.value(forKey: "folded") as? String == "emile")
        let copy = try #require(folded.copy() as? NSDerivedAttributeDescription)
        #expect(copy.derivationExpression == folded.derivationExpression)
    }

    @Test("a composite attribute has its elements' values in a dictionary")
    func composite() throws {
        func text(_ name: String) -> NSAttributeDescription {
            let element = NSAttributeDescription()
            element.name = name
            element.type = .string
            return element
        }
        let address = NSCompositeAttributeDescription()
        address.name = "address"
        address.elements = [text("street"), text("city")]
        #expect(address.type == .composite)
        let model = ModelInCodeTests.library()
        model.entitiesByName["Author"]?.properties.append(address)
        let context = try Stack.inMemory(model).viewContext
        let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
        author.setValue("Emma", forKey: "name")
        author.setValue(["street": "High Street", "city": "Leeds"], forKey: "address")
        try context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
        request.predicate = NSPredicate(format: "address.city == %@", "Leeds")
        #expect(try context.fetch(request) == [author])
    }

    @Test("a transformable attribute goes through its transformer")
    func transformable() throws {
        /// Bytes, one for each digit.
        final class DigitsTransformer: ValueTransformer {
            override class func transformedValueClass() -> AnyClass { NSData.self }
            override func transformedValue(_ value: Any?) -> Any? {
                (value as? [Int]).map { Data($0.map { UInt8($0) }) }
            }
            override func reverseTransformedValue(_ value: Any?) -> Any? {
                (value as? Data).map { $0.map { Int($0) } }
            }
        }
        let name = NSValueTransformerName("ModelPartsTests.Digits")
        ValueTransformer.setValueTransformer(DigitsTransformer(), forName: name)
        defer { ValueTransformer.setValueTransformer(nil, forName: name) }
        #expect(ValueTransformer(forName: name) is DigitsTransformer)
        #expect(ValueTransformer.valueTransformerNames().contains(name))
        #expect(ValueTransformer(forName: NSValueTransformerName("none")) == nil)

        let digits = NSAttributeDescription()
        digits.name = "digits"
        digits.type = .transformable
        digits.valueTransformerName = name.rawValue
        let tags = NSAttributeDescription()
        tags.name = "tags"
        tags.attributeType = .transformableAttributeType
        let model = ModelInCodeTests.library()
        model.entitiesByName["Book"]?.properties += [digits, tags]
        let context = try Stack.inMemory(model).viewContext
        let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
        book.setValue([1, 2, 3], forKey: "digits")
        book.setValue(["a", "b"], forKey: "tags")
        try context.save()
        context.refreshAllObjects()
        #expect(book.value(forKey: "digits") as? [Int] == [1, 2, 3])
        #expect(book.value(forKey: "tags") as? [String] == ["a", "b"])
    }

    @Test("an archive gives only what is allowed")
    func archives() throws {
        final class NamesTransformer: NSSecureUnarchiveFromDataTransformer {
            override class var allowedTopLevelClasses: [AnyClass] { [NSArray.self] }
        }
        let transformer = NamesTransformer()
        let data = try #require(transformer.reverseTransformedValue(["a"]) as? Data)
        #expect(transformer.transformedValue(data) as? [String] == ["a"])
        #expect(transformer.transformedValue(Data([1, 2])) == nil)
        #expect(transformer.transformedValue(nil) == nil)
    }

    @Test("validation predicates with words of their own say those words")
    func validation() throws {
        let model = ModelInCodeTests.library()
        let copies = try #require(model.entitiesByName["Book"]?.attributesByName["copies"])
        copies.setValidationPredicates(
            [NSPredicate(format: "SELF >= 1"), NSPredicate(format: "SELF != 13")],
            withValidationWarnings: ["", "nobody buys thirteen"])
        #expect(copies.validationPredicates.count == 2)
        let context = try Stack.inMemory(model).viewContext
        let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
        func code(_ number: Int) -> Int? {
            book.setValue(number, forKey: "copies")
            do {
                try context.save()
                return nil
            } catch {
                return (error as NSError).code
            }
        }
        #expect(code(0) == NSValidationNumberTooSmallError)
        #expect(code(13) == NSManagedObjectValidationError)
        #expect(code(2) == nil)
    }

    @Test("properties, indexes and elements have copies of their own")
    func copies() throws {
        let model = ModelInCodeTests.library()
        let book = try #require(model.entitiesByName["Book"])
        let title = try #require(book.attributesByName["title"])
        let copy = try #require(title.copy() as? NSAttributeDescription)
        #expect(copy == title)
        #expect(copy.versionHash == title.versionHash)
        copy.type = .integer64
        #expect(copy != title)
        #expect(copy.versionHash != title.versionHash)
        let index = try #require(book.indexes.first)
        #expect(index.entity === book)
        #expect(index.elements.first?.indexDescription === index)
        #expect(index.elements.first?.property === title)
        let twin = try #require(index.copy() as? NSFetchIndexDescription)
        #expect(twin.name == "byTitle")
        #expect(twin.elements.first?.propertyName == "title")
        #expect(twin.entity == nil)
        let entity = try #require(book.copy() as? NSEntityDescription)
        #expect(entity == book)
        #expect(entity.attributesByName["title"] !== title)
        #expect(entity.relationshipsByName["author"]?.destinationEntity === model.entities[0])
    }

    @Test("old forms of indexes are kept")
    func oldIndexes() throws {
        let model = ModelInCodeTests.library()
        let book = try #require(model.entitiesByName["Book"])
        book.attributesByName["price"]?.isIndexed = true
        book.compoundIndexes = [["title", "price"]]
        let copy = try #require(model.copy() as? NSManagedObjectModel)
        let twin = try #require(copy.entitiesByName["Book"])
        #expect(twin.attributesByName["price"]?.isIndexed == true)
        #expect(twin.attributesByName["title"]?.isIndexed == false)
        #expect(twin.compoundIndexes as? [[String]] == [["title", "price"]])
        #expect(twin.indexes.map(\.name) == ["byTitle"])
        _ = try Stack.inMemory(copy)
    }
}
