// What the macros make of classes that are as they should be.

import Testing

@Suite("What the macros write")
struct ExpansionTests {
    @Test("A class gets accessors by number, columns, a description and numbers of key paths")
    func entity() {
        let expansion = Expansion(
            #"""
            @Entity
            final class Product: ManagedObject {
                #Unique<Product>([\.code])
                var code: String
                var price: Double = 0
            }
            """#)
        #expect(expansion.reports == [])
        #expect(
            expansion.words
                == Expansion.words(
                    #"""

                    final class Product: ManagedObject {
                        var code: String {
                            get {
                                _read(0)
                            }
                            set {
                                _write(0, newValue)
                            }
                        }
                        var price: Double {
                            get {
                                _read(1)
                            }
                            set {
                                _write(1, newValue)
                            }
                        }

                        struct Columns: Cairn.EntityColumns {
                            var code = Cairn.TypedKind.column((String).self)
                            var price = Cairn.TypedKind.column((Double).self)
                            let _parent: ManagedObject.Columns
                            static let _entity: Cairn.TypedEntity? = _description()
                            static var _base: Int {
                                0
                            }
                            static var _count: Int {
                                _base + 2
                            }
                            init(_ _binding: Cairn.EntityBinding) {
                                self._parent = ManagedObject.Columns(_binding)
                                self.code._bind(_binding, Self._base + 0)
                                self.price._bind(_binding, Self._base + 1)
                            }
                            private static func _description() -> Cairn.TypedEntity {
                                var properties: [Cairn.TypedProperty] = []
                                do {
                                    let kind = Cairn.TypedKind.of((String).self)
                                    properties.append(Cairn.TypedProperty.property("code", kind))
                                }
                                do {
                                    let kind = Cairn.TypedKind.of((Double).self)
                                    properties.append(Cairn.TypedProperty.property("price", kind, default: {
                                                0
                                            }))
                                }
                                return Cairn.TypedEntity("Product", Product.self, parent: ManagedObject.self, properties: properties, unique: [["code"]], paths: {
                                        Product._paths($0, of: Product.self)
                                    }) { path in
                                    (path as? PartialKeyPath<Product>).flatMap {
                                        Product._property(for: $0)
                                    }
                                }
                            }
                        }

                        override class var _typedEntity: Cairn.TypedEntity? {
                            Columns._entity
                        }

                        static func _property<_Root: Product>(for path: PartialKeyPath<_Root>) -> Int? {
                            switch path {
                            case \_Root.code:
                                return Columns._base + 0
                            case \_Root.price:
                                return Columns._base + 1
                            case \_Root.objectID:
                            return Cairn.TypedEntity._identity
                            default:
                                return ManagedObject._property(for: path)
                            }
                        }

                        static func _paths<_Root: Product>(_ property: Int, of root: _Root.Type) -> Cairn.PropertyPaths? {
                            switch property - Columns._base {
                            case 0:
                                return Cairn.PropertyPaths(\_Root.code, \_Root?.?.code)
                            case 1:
                                return Cairn.PropertyPaths(\_Root.price, \_Root?.?.price)
                            default:
                                return ManagedObject._paths(property, of: root)
                            }
                        }
                    }

                    extension Product: Cairn.PersistentEntity {}
                    """#))
    }

    /// A class, and what its expansion has to contain.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let source: String
        let parts: [String]

        init(_ title: String, _ source: String, _ parts: String...) {
            testDescription = title
            self.source = source
            self.parts = parts
        }
    }

    private static let cases: [Case] = [
        Case(
            "a class that inherits counts from its parent's properties",
            "@Entity class Employee: Person { var salary: Int }",
            "_read(Columns._base + 0)", "_write(Columns._base + 0, newValue)",
            "let _parent: Person.Columns", "Person.Columns._count", "parent: Person.self",
            "return Person._property(for: path)",
            "return Person._paths(property, of: root)"),
        Case(
            "a public class has public columns, its other properties keep their level",
            "@Entity public final class A: ManagedObject { public var a: Int; var b: Int; private var c: Int }",
            "public struct Columns", "public var a = Cairn", "(Int).self) var b = Cairn",
            "private var c = Cairn", "public override class var _typedEntity",
            "@inlinable public static var _count", "public static func _property"),
        Case(
            "a private class has no level of its own on what is generated",
            "@Entity private final class A: ManagedObject { var a: Int }", "} struct Columns",
            "} override class var"),
        Case(
            "what is said of the entity is passed on",
            #"@Entity("Name", isAbstract: true, originalName: "Old") final class A: ManagedObject { }"#,
            #"TypedEntity("Name", A.self, parent: ManagedObject.self, isAbstract: true, originalName: "Old", properties: properties, paths: {"#,
            "let properties: [Cairn.TypedProperty] = []"),
        Case(
            "constraints come in the order of the text, those of single attributes included",
            #"""
            @Entity final class A: ManagedObject {
                #Unique<A>([\.a, \.b], [\A.b])
                @Attribute(.unique) var a: Int
                var b: Int
                #Unique<A>([\.home?.city])
                #Index<A>([\.a], [\.b, \.a])
                var home: Address?
            }
            """#,
            #"unique: [["a", "b"], ["b"], ["a"], ["home.city"]], indexes: [["a"], ["b", "a"]]"#),
        Case(
            "an index is over attributes, elements of composites and to-one relationships, up or down",
            #"""
            @Entity final class A: ManagedObject {
                #Index<A>([.ascending(\.a), .descending(\.home.city)], [.descending(\A.b)])
                #Index<A>([IndexElement.descending(\.other), .ascending(\.a)], [.ascending(\.b)])
                var a: Int
                var b: Int
                var home: Address
                @Relationship(inverse: "others") var other: B?
            }
            """#,
            #"properties: properties, indexes: [["a", "-home.city"], ["-b"], ["-other", "a"], ["b"]], paths: {"#
        ),
        Case(
            "an entity indexes what it inherits",
            #"@Entity final class A: Person { #Index<A>([\.name, \.a], [.descending(\.name)]); var a: Int }"#,
            #"indexes: [["name", "a"], ["-name"]]"#),
        Case(
            "options and limits are passed on",
            #"@Entity final class A: ManagedObject { @Attribute(.externalStorage, .unique, originalName: "x", minimumValue: 1) var a: Data }"#,
            #"TypedProperty.attribute("a", kind, .externalStorage, originalName: "x", minimumValue: {"#
        ),
        Case(
            "a derived attribute has no setter and no column",
            #"@Entity final class A: ManagedObject { @Attribute(derived: "b") var a: Int? }"#,
            "var a: Int? {\n    get {\n        _read(0)\n    }\n}",
            #"attribute("a", kind, derived: "b")"#),
        Case(
            "an ephemeral attribute has no column",
            "@Entity final class A: ManagedObject { @Attribute(.ephemeral) var a: Int = 1 }",
            "struct Columns: Cairn.EntityColumns {\n        let _parent",
            #"attribute("a", kind, .ephemeral, default: {"#),
        Case(
            "an inverse that is a key path is taken by its name",
            #"@Entity final class A: ManagedObject { @Relationship(deleteRule: .deny, inverse: \Tag.owner) var a: Set<Tag> = [] }"#,
            #"relationship("a", kind, default: {"#, #"deleteRule: .deny, inverse: "owner")"#),
        Case(
            "an inverse that is a string is checked by the compiler",
            #"@Entity final class A: ManagedObject { @Relationship(inverse: "owner") var a: [Shop.Tag] }"#,
            "_ = { (object: Shop.Tag) in _ = object.owner }", #"inverse: "owner")"#),
        Case(
            "defaults that have to be computed are marked",
            """
            @Entity final class A: ManagedObject {
                var a: Date = Date()
                var b: Date = .now
                var c: [Int] = [Int]()
                var d: UUID = UUID()
                var e: Int = Limits.most
                var f: Date = Date(timeIntervalSince1970: 0)
            }
            """,
            "Date()\n                        }, computed: true))",
            ".now\n                        }, computed: true))",
            "[Int]()\n                        }))",
            "UUID()\n                        }, computed: true))",
            "Limits.most\n                        }))",
            "Date(timeIntervalSince1970: 0)\n                        }))"),
        Case(
            "nil as a default is none",
            "@Entity final class A: ManagedObject { var a: Int? = nil }", #"property("a", kind))"#),
        Case(
            "what may have no empty value is asked about where it has no default",
            """
            @Entity final class A: ManagedObject { var a: Shade; var b: [String]; var c: Set<Tag>; var d: Chart.Data }
            """,
            "do { let empty = Cairn.TypedKind.emptyValue(of: (Shade).self); empty.exists() }",
            "do { let empty = Cairn.TypedKind.emptyValue(of: ([String]).self); empty.exists() }",
            "do { let empty = Cairn.TypedKind.emptyValue(of: (Set<Tag>).self); empty.exists() }",
            "do { let empty = Cairn.TypedKind.emptyValue(of: (Chart.Data).self); empty.exists() }"),
        Case(
            "an element of a composite is asked about too",
            "@Composite struct A { var a: Shade; var b: Int }",
            "do { let empty = Cairn.TypedKind.emptyValue(of: (Shade).self); empty.exists() } return [ Cairn.CompositeElement("
        ),
        Case(
            "a name that is a word of the language is itself in the model",
            "@Entity final class A: ManagedObject { var `default`: Int }",
            #"property("default", kind)"#, "var `default` = Cairn", "case \\_Root.`default`"),
        Case(
            "what is not persistent stays as it is",
            """
            @Entity final class A: ManagedObject {
                static var a = 1
                let b = 2
                lazy var c = 3
                var d: Int { 4 }
                @Transient var e = 5
                @Transient var f: Int?
                func g() {}
                convenience init(x: Int, in context: ManagedObjectContext) { self.init(context: context) }
                required init(entity: SchemaEntity, insertInto context: ManagedObjectContext?) {}
            }
            """,
            "let b = 2", "lazy var c = 3", "var e = 5", "var f: Int?\n", "_base + 0"),
        Case(
            "a method that takes a property's value to change validates it",
            """
            @Entity final class A: ManagedObject {
                var name: String
                var `default`: Int?
                var other: Int
                func validateDefault(_ value: inout Int?) throws {}
                func validateName(_ value: inout String) {}
                func validateOther(_ value: Int) {}
                func validateOther(to value: inout Int) {}
                func validateOther(_ value: inout Int) -> Bool { true }
                func validateOther() throws {}
                static func validateOther(_ value: inout Int) {}
                func validateMore(_ value: inout Int) {}
            }
            """,
            "properties: properties, validated: [0, 1], paths:",
            """
            override func _validate(_ property: Int, _ value: inout Any?) throws {
                switch property - Columns._base {
                case 0:
                    let kind = Cairn.TypedKind.of((String).self)
                    try _check(property, &value, kind, self.validateName)
                case 1:
                    let kind = Cairn.TypedKind.of((Int?).self)
                    try _check(property, &value, kind, self.validateDefault)
                default:
                    try super._validate(property, &value)
                }
            }
            """),
        Case(
            "a class that overrides the validation by key says so",
            """
            @Entity public class A: ManagedObject {
                var name: String
                public override func validateValue(_ value: inout Any?, forKey key: String) throws {}
            }
            """,
            "properties: properties, validates: true, paths:"),
        Case(
            "a class that looks at its objects as a whole says so",
            """
            @Entity public class A: ManagedObject {
                var name: String
                public override func validateForUpdate() throws { try super.validateForUpdate() }
            }
            """,
            "properties: properties, validatesObjects: true, paths:"),
        Case(
            "an overridden validation is called by the parent's code",
            """
            @Entity final class A: B {
                var color: String
                override func validateName(_ value: inout String) {}
                func validateColor(_ value: inout String) {}
            }
            """,
            "validated: [0], paths:", "self.validateColor"),
        Case(
            "a composite is read and written in the order of its properties",
            """
            @Composite struct Address { var street: String = ""; var city: String?; static let x = 1; var y: Int { 2 } }
            """,
            "extension Address: Cairn.CompositeValue {", #"var _compositeName: String {"#,
            #"Cairn.CompositeElement("street", Cairn.TypedKind.of((String).self), default: {"#,
            #"Cairn.CompositeElement("city", Cairn.TypedKind.of((String?).self)),"#,
            "guard let value0, let value1 else {", "self.city = value1",
            "writer.put(Cairn.TypedKind.of((String).self), self.street)",
            #"Cairn.PropertyPaths(\Address.street, \Self?.?.street),"#),
        Case(
            "a composite can have another name, and be public",
            #"@Composite("Spot") public struct Place { public var x: Double }"#,
            "\"Spot\"", "public static let _elements", "public init?(_from"),
    ]

    @Test("Forms", arguments: cases)
    func forms(_ form: Case) {
        let expansion = Expansion(form.source)
        #expect(expansion.reports == [])
        for part in form.parts {
            #expect(expansion.words.contains(Expansion.words(part)), "\(part)\n\(expansion.text)")
        }
    }
}
