// The examples of the article of this name: what is right as code that runs, what is wrong as text that the compiler is given.

import Cairn
import Foundation
import StoreBackends
import Testing

// WhatAPropertyCanBe 1 begins
@Entity
final class Painting: ManagedObject {
    // What is stored as it is, and an optional of it.
    var title: String = ""
    var price: Decimal?
    var painted: Date?
    var link: URL?

    // A raw value, the columns of a struct, and JSON.
    var technique: Technique = .oil
    var size: FrameSize = FrameSize()
    var notes: [String: String] = [:]

    // Bytes that a transformer makes.
    @Attribute(.transformable(by: TintTransformer.self)) var tint: Tint?

    // One, many, and many in an order.
    @Relationship(inverse: \Gallery.paintings) var gallery: Gallery?
    @Relationship(inverse: \Critic.praises) var critics: Set<Critic>
    @Relationship(deleteRule: .cascade, inverse: \Restoration.painting)
    var restorations: [Restoration]
}

enum Technique: String { case oil, tempera }

@Composite
struct FrameSize {
    var width: Double = 0
    var height: Double = 0
}

struct Tint: Sendable, Equatable {
    var red: UInt8
    var green: UInt8
}

enum TintTransformer: AttributeTransformer {
    static func data(from value: Tint) throws -> Data { Data([value.red, value.green]) }
    static func value(from data: Data) throws -> Tint {
        guard data.count == 2 else { throw NoTint() }
        return Tint(red: data[0], green: data[1])
    }
    struct NoTint: Error {}
}
// WhatAPropertyCanBe 1 ends

@Entity
final class Gallery: ManagedObject {
    var name: String = ""
    var paintings: Set<Painting>
}

@Entity
final class Critic: ManagedObject {
    var name: String = ""
    var praises: Set<Painting>
}

@Entity
final class Restoration: ManagedObject {
    var year: Int = 0
    var painting: Painting?
}

@Suite("What a property can be")
struct WhatAPropertyCanBe {
    private static let common = """
        import Cairn
        import Foundation

        @Entity
        final class Critic: ManagedObject {
            var name: String = ""
        }

        struct Tint {
            var red: UInt8 = 0
        }

        enum TintTransformer: AttributeTransformer {
            static func data(from value: Tint) throws -> Data { Data([value.red]) }
            static func value(from data: Data) throws -> Tint { Tint(red: data[0]) }
        }
        """

    private static let refused = [
        RefusedCode(
            "relationships",
            says:
                "a to-one relationship must be optional: its object may be deleted, or not be set yet",
            "a to-many relationship is not optional: without members it is empty",
            "a to-many relationship is not optional: without members it is empty",
            source: """
                // WhatAPropertyCanBe 2 begins
                @Entity
                final class Painting: ManagedObject {
                    var owner: Critic
                    var critics: Set<Critic>?
                    var visitors: [Critic]?
                }
                // WhatAPropertyCanBe 2 ends
                """),
        RefusedCode(
            "integers",
            says: "an unsigned integer of 64 bits does not fit an attribute: use Int, or Decimal",
            "an unsigned integer of 64 bits does not fit an attribute: use Int, or Decimal",
            "an unsigned integer of 64 bits does not fit an attribute: use Int, or Decimal",
            source: """
                // WhatAPropertyCanBe 3 begins
                @Entity
                final class Counter: ManagedObject {
                    var visits: UInt = 0
                    var hash: UInt64?
                    @Attribute(.unique) var number: UInt = 0
                }
                // WhatAPropertyCanBe 3 ends
                """),
        RefusedCode(
            "types",
            says: "a persistent property needs a type that can be stored: a number, Bool, String",
            "a persistent property needs a type that can be stored: a number, Bool, String",
            "the property is of another type than its transformer's values, or an optional of it",
            source: """
                // WhatAPropertyCanBe 4 begins
                @Entity
                final class Wall: ManagedObject {
                    var tint: Tint?  // neither Codable nor @Composite
                    var action: () -> Void = {}
                    @Attribute(.transformable(by: TintTransformer.self)) var name: String = ""
                }
                // WhatAPropertyCanBe 4 ends
                """),
        RefusedCode(
            "marks",
            says: "this is a relationship: describe it with @Relationship",
            "this is not a relationship: its type must be Tag?, Set<Tag> or [Tag], where Tag is an entity",
            source: """
                // WhatAPropertyCanBe 5 begins
                @Entity
                final class Review: ManagedObject {
                    @Attribute(.unique) var critic: Critic?
                    @Relationship(deleteRule: .cascade) var text: String = ""
                }
                // WhatAPropertyCanBe 5 ends
                """),
        RefusedCode(
            "rows",
            says: "a row of a batch can only be written",
            source: """
                @Entity
                final class Ticket: ManagedObject {
                    var number: Int = 0
                    var buyers: Set<Critic>
                }

                func imported(_ context: ManagedObjectContext) throws {
                    // WhatAPropertyCanBe 6 begins
                    let request = BatchInsertRequest(Ticket.self, from: 0..<10) { row, number in
                        row.number = number
                        if row.number > 5 { row.buyers = .keys(["Anna"]) }
                    }
                    // WhatAPropertyCanBe 6 ends
                    try context.execute(request)
                }
                """),
        RefusedCode(
            "defaults",
            says:
                "there may be no value, or a raw value that the type does not have: give the property a default (var kind: Kind = .other), or make it optional",
            "there may be no value, or bytes that cannot be read as the type: give the property a default (var tags: [String] = []), or make it optional",
            source: """
                // WhatAPropertyCanBe 7 begins
                @Entity
                final class Plank: ManagedObject {
                    var wood: Wood
                    var knots: [Double]
                    var length: Double
                }

                enum Wood: String { case oak, pine }
                // WhatAPropertyCanBe 7 ends
                """),
        RefusedCode(
            "elements",
            says:
                "there may be no value, or a raw value that the type does not have: give the property a default (var kind: Kind = .other), or make it optional",
            source: """
                @Composite
                struct Varnish {
                    var gloss: Gloss
                    var undercoat: Gloss?
                    var topcoat: Gloss = .matt
                    var layers: Int
                }

                enum Gloss: Int, Codable { case matt, silk }
                """),
    ]

    private static let codes = RefusedCodes(refused, common: common)

    @Test("What cannot be stored does not compile, and the compiler says why", arguments: refused)
    func explained(_ code: RefusedCode) async throws { try await Self.codes.check(code) }

    @Test("The article says what the compiler says")
    func quoted() async throws {
        let article = try QuotingArticle("WhatAPropertyCanBe")
        article.check(against: try await Self.codes.errors())
    }

    @Test("What can be stored comes back as it was", arguments: Backend.compared)
    func stored(_ backend: Backend) async throws {
        let container = try backend.container(for: Painting.self)
        let id = try await container.performBackgroundTask { context in
            let painting = context.insert(Painting.self)
            painting.title = "Harbour"
            painting.price = Decimal(string: "12.50")
            painting.painted = Date(timeIntervalSinceReferenceDate: 1)
            painting.link = URL(string: "https://example.org/harbour")
            painting.technique = .tempera
            painting.size.width = 40
            painting.notes["frame"] = "oak"
            painting.tint = Tint(red: 1, green: 2)
            painting.gallery = context.insert(Gallery.self)
            for name in ["Ann", "Ben"] {
                let critic = context.insert(Critic.self)
                critic.name = name
                painting.critics.insert(critic)
            }
            for year in [1990, 1950, 2010] {
                let restoration = context.insert(Restoration.self)
                restoration.year = year
                painting.restorations.append(restoration)
            }
            try context.save()
            return painting.objectID
        }
        try await container.performBackgroundTask { context in
            let painting = try #require(try context.existingObject(with: id) as? Painting)
            #expect(painting.title == "Harbour" && painting.price == Decimal(string: "12.50"))
            #expect(painting.painted == Date(timeIntervalSinceReferenceDate: 1))
            #expect(painting.link == URL(string: "https://example.org/harbour"))
            #expect(painting.technique == .tempera && painting.size.width == 40)
            #expect(painting.notes == ["frame": "oak"])
            #expect(painting.tint == Tint(red: 1, green: 2))
            #expect(painting.gallery?.paintings == [painting])
            #expect(painting.critics.map(\.name).sorted() == ["Ann", "Ben"])
            #expect(painting.restorations.map(\.year) == [1990, 1950, 2010])
        }
    }
}
