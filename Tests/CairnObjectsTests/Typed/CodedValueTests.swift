// Values whose type says one way of storing them and the class another: a string that is encrypted, an enum and a composite
// kept as JSON.

import Cairn
import Foundation
import StoreBackends
import Testing

@testable import CairnObjects

/// Turns bits over, behind a byte of chance: the same text has other bytes each time.
enum Cipher: AttributeTransformer {
    static func data(from text: String) -> Data {
        Data([UInt8.random(in: 0...255)]) + Data(text.utf8.map { ~$0 })
    }

    static func value(from data: Data) throws -> String {
        String(decoding: data.dropFirst().map { ~$0 }, as: UTF8.self)
    }
}

@Composite
struct SecretSpot: Codable, Equatable {
    var x: Int = 0
    var note: String?
}

@Entity
final class TypedSecret: ManagedObject {
    @Attribute(.transformable(by: Cipher.self)) var secret: String = ""
    @Attribute(.transformable(by: Cipher.self)) var hint: String?
    @Attribute(.transformable(by: Cipher.self), .ephemeral) var shown: String?
    @Attribute(.codable) var shade: Shade = .light
    @Attribute(.codable) var spot: SecretSpot = SecretSpot()
    @Attribute(.codable) var spare: SecretSpot?

    func validateSecret(_ value: inout String) throws {
        if value.hasSuffix(" ") { value.removeLast() }
    }

    func validateHint(_ value: inout String?) throws {
        if value == "none" { value = nil }
    }

    override func validateValue(_ value: inout Any?, forKey key: String) throws {
        try super.validateValue(&value, forKey: key)
    }
}

@Suite("Values that are stored otherwise than their types")
struct CodedValueTests {
    private func secret(_ backend: Backend) throws -> (ManagedObjectContext, TypedSecret) {
        let types: [any PersistentEntity.Type] = [TypedSecret.self]
        let stack = try Stack(
            ManagedObjectModel(for: types), backend, classes: ObjectClasses(for: types))
        let context = stack.context()
        return (context, context.insert(TypedSecret.self))
    }

    @Test("A snapshot has what the object has", arguments: Backend.allCases)
    func snapshots(_ backend: Backend) throws {
        let (context, object) = try secret(backend)
        #expect(object.snapshot().secret == "" && object.snapshot().hint == nil)
        #expect(object.snapshot().shade == .light && object.snapshot().spot == SecretSpot())
        #expect(object.snapshot().spare == nil && object.snapshot().shown == nil)
        object.secret = "word"
        object.hint = "four letters"
        object.shown = "w..d"
        object.shade = .dark
        object.spot = SecretSpot(x: 7, note: "here")
        object.spare = SecretSpot(x: 8)
        try context.save()
        let snapshot = object.snapshot()
        let data = try JSONEncoder().encode(snapshot)
        let read = try JSONDecoder().decode(ObjectSnapshot<TypedSecret>.self, from: data)
        for snapshot in [snapshot, read] {
            #expect(snapshot.secret == "word" && snapshot.hint == "four letters")
            #expect(snapshot.shown == "w..d" && snapshot.shade == .dark)
            #expect(
                snapshot.spot == SecretSpot(x: 7, note: "here")
                    && snapshot.spare == SecretSpot(x: 8))
            #expect(snapshot["secret"] as? String == "word")
        }
    }

    @Test(
        "The class's own validation of such values comes to an end, and may say nil",
        arguments: Backend.allCases)
    func validation(_ backend: Backend) throws {
        let (context, object) = try secret(backend)
        object.secret = "word "
        object.hint = "none"
        object.shown = "seen"
        object.spot.x = 3
        try context.save()
        #expect(object.secret == "word" && object.hint == nil && object.shown == "seen")
        object.hint = "kept"
        try context.save()
        context.refreshAllObjects()
        #expect(object.secret == "word" && object.hint == "kept" && object.spot.x == 3)
    }
}
