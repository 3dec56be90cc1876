// Values whose transformer, or whose own `encode(to:)`, throws.

import Cairn
import CairnModel
import CairnObjects
import CairnStore
import Foundation
import StoreBackends
import Testing

struct Unencodable: Error, Equatable {}

/// A value that cannot be encoded if it is less than 0.
struct Fragile: Codable, Equatable {
    var number: Int

    init(_ number: Int) { self.number = number }

    init(from decoder: any Decoder) throws {
        number = try decoder.singleValueContainer().decode(Int.self)
    }

    func encode(to encoder: any Encoder) throws {
        if number < 0 { throw Unencodable() }
        var container = encoder.singleValueContainer()
        try container.encode(number)
    }
}

/// The same by a transformer.
struct Brittle: Equatable {
    var number: Int
}

enum BrittleTransformer: AttributeTransformer {
    static func data(from value: Brittle) throws -> Data {
        if value.number < 0 { throw Unencodable() }
        return Data("\(value.number)".utf8)
    }

    static func value(from data: Data) throws -> Brittle {
        Brittle(number: Int(String(decoding: data, as: UTF8.self)) ?? 0)
    }
}

@Composite
struct Parcel: Equatable {
    var label: String = ""
    var content: Fragile = Fragile(0)
}

@Entity
final class TypedVase: ManagedObject {
    var name: String = ""
    var fragile: Fragile = Fragile(1)
    var other: Fragile?
    var parcel: Parcel = Parcel()
    @Attribute(.transformable(by: BrittleTransformer.self)) var brittle: Brittle = Brittle(
        number: 1)
    @Attribute(.transformable(by: BrittleTransformer.self)) var otherBrittle: Brittle?
    @Attribute(.codable, .ephemeral) var shown: Fragile?
}

@Suite("Values that cannot be encoded")
struct RefusedValueTests {
    private func stack(_ backend: Backend) throws -> Stack {
        try Stack(
            ManagedObjectModel(for: TypedVase.self), backend,
            classes: ObjectClasses(for: TypedVase.self))
    }

    /// Each property, set to what cannot be encoded.
    private static let settings:
        [(key: String, set: @Sendable (TypedVase, Int) -> Void, get: @Sendable (TypedVase) -> Int?)] =
            [
                ("fragile", { $0.fragile = Fragile($1) }, { $0.fragile.number }),
                ("other", { $0.other = Fragile($1) }, { $0.other?.number }),
                ("parcel", { $0.parcel.content = Fragile($1) }, { $0.parcel.content.number }),
                ("brittle", { $0.brittle = Brittle(number: $1) }, { $0.brittle.number }),
                (
                    "otherBrittle", { $0.otherBrittle = Brittle(number: $1) },
                    { $0.otherBrittle?.number }
                ),
                ("shown", { $0.shown = Fragile($1) }, { $0.shown?.number }),
            ]

    @Test(
        "The property keeps the value, and the save throws with entity, key and cause",
        arguments: Backend.allCases)
    func saving(_ backend: Backend) throws {
        let stack = try stack(backend)
        for (key, set, get) in Self.settings {
            let context = stack.context()
            let vase = context.insert(TypedVase.self)
            try context.save()
            for isNew in [true, false] {
                let vase = isNew ? context.insert(TypedVase.self) : vase
                set(vase, -7)
                #expect(get(vase) == -7 && context.hasChanges, "\(key)")
                let error = try #require(storeError { try context.save() }, "\(key)")
                #expect(error.code == .validation && error.context.key == key)
                #expect(error.context.entity == "TypedVase" && error.cause is Unencodable)
                #expect(error.context.objectID == vase.objectID)
                #expect(get(vase) == -7)
                set(vase, 8)
                #expect(get(vase) == 8)
                try context.save()
                #expect(!context.hasChanges)
                if key != "shown" {
                    let stored = stack.context().object(with: vase.objectID)
                    #expect(get(try #require(stored as? TypedVase)) == 8, "\(key)")
                }
            }
        }
    }

    @Test("All that cannot be encoded is thrown together, and rollback gives it up")
    func several() throws {
        let stack = try stack(.log)
        let context = stack.context()
        let vase = context.insert(TypedVase.self)
        vase.name = "ming"
        try context.save()
        for (_, set, _) in Self.settings { set(vase, -1) }
        vase.name = "tang"
        let error = try #require(storeError { try context.save() })
        #expect(error.code == .multiple)
        #expect(
            error.details.compactMap(\.context.key).sorted() == Self.settings.map(\.key).sorted())
        #expect(error.details.allSatisfy { $0.cause is Unencodable })
        let changed = Set(vase.changedValues().keys)
        #expect(changed.isSuperset(of: ["name", "fragile", "other", "parcel", "brittle"]))
        context.rollback()
        #expect(vase.fragile == Fragile(1) && vase.other == nil && vase.parcel == Parcel())
        #expect(vase.brittle.number == 1 && !context.hasChanges && vase.name == "ming")
        vase.fragile = Fragile(-1)
        context.refresh(vase, mergeChanges: false)
        #expect(vase.fragile == Fragile(1))
        vase.fragile = Fragile(-1)
        context.refresh(vase, mergeChanges: true)
        #expect(vase.fragile == Fragile(-1))
        vase.fragile = Fragile(1)
        try context.save()
    }

    @Test("Undo takes such a value back, and redo sets it again", arguments: Backend.allCases)
    func undo(_ backend: Backend) throws {
        let context = try stack(backend).context()
        let vase = context.insert(TypedVase.self)
        try context.save()
        context.undoHistory = UndoHistory()
        vase.fragile = Fragile(-3)
        context.processPendingChanges()
        vase.fragile = Fragile(4)
        context.undo()
        #expect(vase.fragile == Fragile(-3))
        #expect(storeError { try context.save() }?.context.key == "fragile")
        context.undo()
        #expect(vase.fragile == Fragile(1) && !context.hasChanges)
        context.redo()
        #expect(vase.fragile == Fragile(-3) && context.hasChanges)
        context.redo()
        #expect(vase.fragile == Fragile(4))
        try context.save()
    }

    @Test(
        "A child context refuses the save, and its parent has no part of it",
        arguments: Backend.allCases)
    func child(_ backend: Backend) throws {
        let parent = try stack(backend).context()
        let child = parent.newChildContext()
        let vase = child.insert(TypedVase.self)
        vase.brittle = Brittle(number: -1)
        let error = try #require(storeError { try child.save() })
        #expect(error.context.key == "brittle" && error.cause is Unencodable)
        #expect(!parent.hasChanges)
        vase.brittle.number = 2
        try child.save()
        #expect(parent.insertedObjects.count == 1)
        try parent.save()
    }

    @Test("A batch names the row and the key, and writes nothing", arguments: Backend.allCases)
    func batches(_ backend: Backend) throws {
        let context = try stack(backend).context()
        let fills: [(String, @Sendable (borrowing EntityRow<TypedVase.Columns>, Int) -> Void)] = [
            ("fragile", { $0.fragile = Fragile($1) }), ("other", { $0.other = Fragile($1) }),
            ("parcel", { $0.parcel = Parcel(label: "", content: Fragile($1)) }),
            ("brittle", { $0.brittle = Brittle(number: $1) }),
            ("otherBrittle", { $0.otherBrittle = Brittle(number: $1) }),
        ]
        for (key, fill) in fills {
            let request = BatchInsertRequest(TypedVase.self, from: [1, 2, -3, -4]) { row, number in
                fill(row, number)
            }
            let error = try #require(storeError { try context.execute(request) }, "\(key)")
            #expect(error.context.key == key && error.context.row == 2, "\(error)")
            #expect(error.cause is Unencodable && error.context.entity == "TypedVase")
            #expect(try context.count("TypedVase") == 0)
            // The row that ends the request is none.
            let ended = BatchInsertRequest(TypedVase.self) { row in
                fill(row, -1)
                return true
            }
            #expect(try context.execute(ended).insertedCount == 0)
        }
        let objects = BatchInsertRequest(
            TypedVase.self,
            managedObjectHandler: { vase in
                vase.fragile = Fragile(-1)
                return false
            })
        let error = try #require(storeError { try context.execute(objects) })
        #expect(error.context.key == "fragile" && error.cause is Unencodable)
        #expect(try context.count("TypedVase") == 0)
    }

    @Test(
        "By key, the subscript keeps the value and setValue throws", arguments: Backend.allCases)
    func untyped(_ backend: Backend) throws {
        let name = "Brittle of \(backend)"
        AttributeTransformers.register(BrittleTransformer.self, as: name)
        var attribute = AttributeDescription("brittle", .transformable)
        attribute.valueTransformerName = name
        var shown = attribute
        shown.name = "shown"
        shown.isTransient = true
        let stack = try Stack(
            ManagedObjectModel(entities: [
                EntityDescription("Vase", attributes: [attribute, shown])
            ]), backend)
        let context = stack.context()
        let vase = context.insert("Vase")
        for key in ["brittle", "shown"] {
            vase[key] = Brittle(number: -1)
            #expect(vase[key] as? Brittle == Brittle(number: -1))
            #expect(storeError { try context.save() }?.context.key == key)
            vase[key] = Brittle(number: 5)
            #expect(vase[key] as? Brittle == Brittle(number: 5))
        }
        try context.save()
        #expect(
            try stack.context().all("Vase").map { $0["brittle"] as? Brittle } == [
                Brittle(number: 5)
            ])
    }
}
