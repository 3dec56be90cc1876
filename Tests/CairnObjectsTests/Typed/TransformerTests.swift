// Values that transformers store: typed by the class's mark, untyped by what is registered.

import Cairn
import Foundation
import StoreBackends
import Testing

@testable import CairnObjects

@Suite("Transformers of values")
struct TransformerTests {
    private func typed(_ backend: Backend) throws -> Stack {
        let types: [any PersistentEntity.Type] = [TypedPencil.self]
        return try Stack(
            ManagedObjectModel(for: types), backend, classes: ObjectClasses(for: types))
    }

    /// A model as a file has it; each test has transformers of its own, since names are the whole process's.
    private func untyped(_ backend: Backend, transformer: String?) throws -> Stack {
        var color = AttributeDescription("color", .transformable)
        color.valueTransformerName = transformer
        var shown = color
        shown.name = "shown"
        shown.isTransient = true
        return try Stack(
            ManagedObjectModel(entities: [
                EntityDescription(
                    "Pencil", attributes: [AttributeDescription("name", .string), color, shown])
            ]), backend)
    }

    @Test("A typed property has the values of its transformer", arguments: Backend.allCases)
    func typedValues(_ backend: Backend) throws {
        let stack = try typed(backend)
        let context = stack.context()
        let pencil = context.insert(TypedPencil.self)
        #expect(pencil.paint == nil && pencil.core == Paint(red: 1, green: 2, blue: 3))
        #expect(pencil.shown == nil && pencil.shade == .light && pencil.otherShade == nil)
        pencil.paint = Paint(red: 9, green: 8, blue: 7)
        pencil.shown = Paint(red: 1, green: 1, blue: 1)
        pencil.otherShade = .dark
        try context.save()
        let other = stack.context()
        let twin = try #require(try other.fetch(FetchRequest<TypedPencil>()).first)
        #expect(twin.paint == Paint(red: 9, green: 8, blue: 7) && twin.core.blue == 3)
        #expect(twin.shade == .light && twin.otherShade == .dark && twin.shown == nil)
        #expect(pencil.shown?.red == 1)
        twin.paint?.red = 4
        #expect(twin.paint?.red == 4 && twin.hasPersistentChangedValues)
        twin.paint = Paint(red: 9, green: 8, blue: 7)
        #expect(!twin.hasPersistentChangedValues)
        twin.paint = nil
        try other.save()
        context.refreshAllObjects()
        #expect(pencil.paint == nil)
    }

    @Test("What is stored are the transformer's bytes, and JSON for what is marked codable")
    func stored() throws {
        let stack = try typed(.log)
        let context = stack.context()
        let pencil = context.insert(TypedPencil.self)
        pencil.paint = Paint(red: 5, green: 6, blue: 7)
        try context.save()
        let rows = try context.fetch(FetchRequest<DictionaryResult>(entityName: "TypedPencil"))
        #expect(rows[0]["paint"] as? Data == Data([5, 6, 7]))
        #expect(rows[0]["shade"] as? Data == Data("\"light\"".utf8))
        let attributes = context.entity(for: TypedPencil.self).description.attributes
        #expect(
            attributes.map(\.valueTransformerName) == [
                nil, "PaintTransformer", "PaintTransformer", "PaintTransformer", "CairnJSON",
                "CairnJSON",
            ])
        #expect(attributes[4].defaultValue == .binary(Data("\"light\"".utf8)))
    }

    @Test(
        "By key a typed property has the same values, in snapshots and changes too",
        arguments: Backend.allCases)
    func byKey(_ backend: Backend) throws {
        let stack = try typed(backend)
        let context = stack.context()
        let pencil = context.insert(TypedPencil.self)
        #expect(AttributeTransformers.names.contains("PaintTransformer"))
        pencil["paint"] = Paint(red: 5, green: 6, blue: 7)
        pencil["shown"] = Paint(red: 2, green: 2, blue: 2)
        try context.save()
        #expect(pencil.paint?.green == 6 && (pencil["paint"] as? Paint)?.green == 6)
        #expect(pencil.shown?.green == 2 && (pencil["shown"] as? Paint)?.green == 2)
        pencil.paint?.green = 1
        #expect((pencil.changedValues()["paint"] as? Paint)?.green == 1)
        #expect((pencil.committedValues(forKeys: ["paint"])["paint"] as? Paint)?.green == 6)
        let snapshot = pencil.snapshot()
        #expect(snapshot.paint?.green == 1 && snapshot.core.red == 1 && snapshot.shade == .light)
        #expect((snapshot["core"] as? Paint)?.red == 1 && snapshot.otherShade == nil)
        #expect(pencil.snapshot().shown?.red == 2)
        let data = try JSONEncoder().encode(snapshot)
        let back = try JSONDecoder().decode(ObjectSnapshot<TypedPencil>.self, from: data)
        #expect(back.paint?.green == 1 && (back["core"] as? Paint)?.red == 1)
    }

    @Test("The class's own validation sees the value and may put another in its place")
    func validation() throws {
        let context = try typed(.log).context()
        let pencil = context.insert(TypedPencil.self)
        pencil.paint = Paint(red: 1, green: 7, blue: 1)
        try context.save()
        #expect(pencil.paint?.green == 8)
        pencil.paint = Paint(red: 0, green: 1, blue: 1)
        #expect(storeError { try context.save() }?.cause is BadPaint)
    }

    @Test(
        "A batch insert and a predicate for nil work with transformed values",
        arguments: Backend.allCases)
    func batch(_ backend: Backend) throws {
        let stack = try typed(backend)
        let context = stack.context()
        let request = BatchInsertRequest(TypedPencil.self, from: [1, 2]) { row, number in
            row.name = "\(number)"
            row.core = Paint(red: 1, green: 1, blue: 1)
            if number == 1 { row.paint = Paint(red: 3, green: 3, blue: 3) }
        }
        try context.execute(request)
        let pencils = try context.fetch(FetchRequest<TypedPencil>(sortBy: [SortKey("name")]))
        #expect(pencils.map { $0.paint?.red } == [3, nil])
        #expect(try context.find("TypedPencil", "paint", .null).count == 1)
    }

    @Test(
        "A registered transformer gives an untyped attribute its values",
        arguments: Backend.allCases)
    func registered(_ backend: Backend) throws {
        let name = "Paint of \(backend)"
        let stack = try untyped(backend, transformer: name)
        let context = stack.context()
        let pencil = context.insert("Pencil")
        pencil["color"] = Data([1, 2, 3])
        #expect(pencil["color"] as? Data == Data([1, 2, 3]))
        AttributeTransformers.register(PaintTransformer.self, as: name)
        #expect(pencil["color"] as? Paint == Paint(red: 1, green: 2, blue: 3))
        pencil["color"] = Paint(red: 4, green: 5, blue: 6)
        pencil["shown"] = Paint(red: 7, green: 5, blue: 6)
        try context.save()
        let twin = try #require(try stack.context().all("Pencil").first)
        #expect(twin["color"] as? Paint == Paint(red: 4, green: 5, blue: 6))
        #expect(twin["shown"] == nil && (pencil["shown"] as? Paint)?.red == 7)
        var value: Any? = "no paint"
        #expect(storeError { try twin.validateValue(&value, forKey: "color") }?.code == .validation)
        value = Paint(red: 1, green: 1, blue: 1)
        try twin.validateValue(&value, forKey: "color")
    }

    @Test(
        "Bytes that are no value read as nil, which the next fetch tells of",
        arguments: Backend.allCases)
    func unreadable(_ backend: Backend) throws {
        let name = "Unreadable of \(backend)"
        let stack = try untyped(backend, transformer: name)
        let context = stack.context()
        let pencil = context.make("Pencil", ["color": Data([1])])
        try context.save()
        AttributeTransformers.register(PaintTransformer.self, as: name)
        #expect(pencil["color"] == nil)
        let error = try #require(storeError { _ = try context.all("Pencil") })
        #expect(error.code == .invalidRequest && error.context.key == "color")
        #expect(error.cause is BadPaint)
        #expect(try context.all("Pencil").count == 1)
    }

    @Test("Keyed archives are bytes, and setting anything else ends with words")
    func archives() async throws {
        for name in [nil, "NSSecureUnarchiveFromData", "NSKeyedUnarchiveFromDataTransformerName"] {
            let pencil = try untyped(.log, transformer: name).context().insert("Pencil")
            pencil["color"] = Data([1, 2])
            #expect(pencil["color"] as? Data == Data([1, 2]))
        }
        let reason = AttributeTransformers.reason(
            name: "NSSecureUnarchiveFromDataTransformerName")
        #expect(reason.contains("NSSecureUnarchiveFromData reads keyed archives"))
        #expect(AttributeTransformers.reason(name: nil) == reason)
        #expect(AttributeTransformers.reason(name: "Mine").contains("no transformer named Mine"))
        await #expect(processExitsWith: .failure) {
            let attribute = AttributeDescription("color", .transformable)
            let stack = try Stack(
                ManagedObjectModel(entities: [EntityDescription("Pencil", attributes: [attribute])]
                ), .log)
            let context = stack.context()
            context.insert("Pencil")["color"] = Paint(red: 1, green: 1, blue: 1)
        }
        await #expect(processExitsWith: .failure) {
            AttributeTransformers.register(PaintTransformer.self, as: "P")
            var attribute = AttributeDescription("color", .transformable)
            attribute.valueTransformerName = "P"
            let stack = try Stack(
                ManagedObjectModel(entities: [EntityDescription("Pencil", attributes: [attribute])]
                ), .log)
            let context = stack.context()
            context.insert("Pencil")["color"] = Data([1, 2, 3])
        }
    }
}
