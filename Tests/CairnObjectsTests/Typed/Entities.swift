// The typed entities that the tests use. Entities stand at file level: a macro cannot extend a local type.

import Cairn
import Foundation

@Entity
final class TypedProduct: ManagedObject {
    #Unique<TypedProduct>([\.serialCode])
    #Index<TypedProduct>([\.category, \.price])
    var serialCode: String
    var name: String = "unnamed"
    var price: Double = 0
    var stock: Int = 0
    var category: String?
    @Relationship(deleteRule: .nullify, inverse: \TypedTag.products) var tags: Set<TypedTag>
    var maker: TypedMaker?
}

@Entity
final class TypedTag: ManagedObject {
    @Attribute(.unique) var label: String = ""
    var products: Set<TypedProduct>
}

@Entity("Maker")
final class TypedMaker: ManagedObject {
    var name: String = ""
    @Relationship(deleteRule: .cascade, inverse: "maker") var products: [TypedProduct] = []
}

/// One property of every type that is stored as it is.
@Entity
final class TypedSample: ManagedObject {
    var integer: Int = 1
    var integer64: Int64 = -2
    var integer32: Int32 = 3
    var integer16: Int16 = 4
    var integer8: Int8 = 5
    var byte: UInt8 = 6
    var word: UInt16 = 7
    var double: UInt32 = 8
    var flag: Bool = true
    var ratio: Double = 0.5
    var short: Float = 0.25
    var exact: Decimal = 1.5
    var text: String = "text"
    var moment: Date = Date(timeIntervalSinceReferenceDate: 1)
    var bytes: Data = Data()
    var identifier: UUID?
    var link: URL = URL(string: "https://example.org")!
    var optionalInteger: Int?
    var optionalFlag: Bool? = true
    var optionalText: String? = nil
    var optionalMoment: Date?
    var optionalBytes: Data?
    var optionalExact: Decimal?
}

/// The same types without defaults.
@Entity
final class TypedBlank: ManagedObject {
    var integer: Int
    var integer32: Int32
    var byte: UInt8
    var flag: Bool
    var ratio: Double
    var short: Float
    var exact: Decimal
    var text: String
    var moment: Date
    var bytes: Data
    var identifier: UUID
    var link: URL
}

enum Shade: String, Codable {
    case light, dark
}

struct Level: RawRepresentable, Hashable {
    var rawValue: Int16
    static let low = Level(rawValue: 1)
}

struct Money: Codable, Equatable {
    var amount: Double
    var currency: String
}

/// A value that others can hold and change.
final class Sketch: Codable {
    var lines: [Int]

    init(_ lines: [Int]) { self.lines = lines }
}

@Entity
final class TypedAlbum: ManagedObject {
    var sketch: Sketch?
}

@Composite
struct Address: Equatable {
    var street: String = ""
    var city: String?
    var level: Level = .low
    var notes: [String] = []
}

@Composite("Spot")
struct Place: Equatable {
    var address: Address = Address()
    var second: Address?
    var latitude: Double = 0
}

/// Values that are converted to be stored.
@Entity
final class TypedThing: ManagedObject {
    var shade: Shade = .light
    var otherShade: Shade?
    var level: Level = .low
    var otherLevel: Level?
    var cost: Money?
    var price: Money = Money(amount: 1, currency: "EUR")
    var words: [String] = []
    var scores: [String: Int] = ["a": 1]
    var unit: Shade = .light
    var home: Address = Address(street: "Main")
    var work: Address?
    var place: Place?
}

/// What marks can say.
@Entity("Marked", originalName: "Old", hashModifier: "2")
final class TypedMarks: ManagedObject {
    @Attribute(.unique, minimumLength: 2, maximumLength: 4, pattern: "[A-Z]+") var code: String
    @Attribute(originalName: "cost", minimumValue: 1, maximumValue: 10) var price: Double = 5
    @Attribute(.externalStorage, .preserveValueOnDeletion, hashModifier: "x") var picture: Data?
    @Attribute(.ephemeral) var selection: Int = 3
    @Attribute(derived: "canonical:(code)") var search: String?
    @Transient var cache: [Int] = [1]
    @Transient var lazyCache: Int?
    var created: Date = Date()
    var token: UUID = UUID()
    @Relationship(
        deleteRule: .cascade, minimumModelCount: 1, maximumModelCount: 3, originalName: "bits",
        inverse: "owner") var parts: [TypedPart]
    @Relationship(deleteRule: .deny, isOptional: false) var main: TypedPart?
    static let limit = 7
    let constant = 8
    var computed: Int { Int(price) * 2 }
    lazy var counted: Int = 9
}

@Entity
final class TypedPart: ManagedObject {
    @Relationship(inverse: "parts") var owner: TypedMarks?
    var `default`: Int = 0
}

/// A class between ManagedObject and the entities that is no entity.
class TypedBase: ManagedObject {
    var note: String { "\(entity.name)" }
}

@Entity(isAbstract: true)
class TypedPerson: TypedBase {
    #Unique<TypedPerson>([\.name])
    var name: String = ""
    var address: Address?
    @Relationship(inverse: \TypedFirm.people) var firm: TypedFirm?

    convenience init(_ name: String, in context: ManagedObjectContext) {
        self.init(context: context)
        self.name = name
    }
}

@Entity
class TypedEmployee: TypedPerson {
    #Index<TypedEmployee>([\.name, \.salary])
    var salary: Int = 10
    @Relationship(inverse: "reports") var boss: TypedBoss?
}

@Entity
final class TypedBoss: TypedEmployee {
    var bonus: Double = 1
    @Relationship(inverse: \TypedEmployee.boss) var reports: Set<TypedEmployee>
}

@Entity
final class TypedFirm: ManagedObject {
    var title: String = ""
    var people: Set<TypedPerson>
}

/// A version of a model: entities may be nested.
enum VersionOne {
    @Entity
    final class Note: ManagedObject {
        var text: String = ""
        private var secret: Secret = .none
        var isSecret: Bool {
            get { secret == .some }
            set { secret = newValue ? .some : .none }
        }
        private enum Secret: Int { case none, some }
    }
}
