// Marks that say how values are stored, and marks that contradict what they stand before.

import Testing

@Suite("Marks of how values are stored")
struct TransformerMarkTests {
    @Test("A transformer is named in the description, the accessors and the columns")
    func transformer() {
        let expansion = Expansion(
            "@Entity final class A: ManagedObject {\n"
                + "@Attribute(.transformable(by: Paints.self), originalName: \"x\") var a: Paint?\n"
                + "func validateA(_ value: inout Paint?) {}\n}")
        #expect(expansion.reports == [])
        for part in [
            "_read(0, by: Paints.self)", "_write(0, newValue, by: Paints.self)",
            "var a = Cairn.TypedKind.column((Paint?).self, by: Paints.self)",
            "let kind = Cairn.TypedKind.of((Paint?).self, by: Paints.self) properties.append(Cairn.TypedProperty.attribute(\"a\", kind, originalName: \"x\"))",
            "let kind = Cairn.TypedKind.of((Paint?).self, by: Paints.self) try _check",
        ] {
            #expect(expansion.words.contains(part), "\(part)")
        }
    }

    @Test(
        "A codable property is stored as JSON of what it is when it is not nil",
        arguments: [("Shade", " = .light"), ("Shade?", ""), ("Optional<Shade>", "")])
    func codable(_ type: String, _ value: String) {
        let expansion = Expansion(
            "@Entity final class A: ManagedObject { @Attribute(.codable, .externalStorage) var a: \(type)\(value) }"
        )
        #expect(expansion.reports == [])
        #expect(
            expansion.words.contains(
                "Cairn.TypedKind.of((\(type)).self, by: Cairn.JSONTransformer<Shade>.self)"))
        #expect(expansion.words.contains("kind, .externalStorage"))
    }

    @Test("What generated code declares cannot hide a property's name")
    func names() {
        let expansion = Expansion(
            "@Entity final class A: ManagedObject { var binding: Int; var Parent: Int }")
        #expect(expansion.reports == [])
        #expect(expansion.words.contains("self.binding._bind(_binding, Self._base + 0)"))
        let composite = Expansion("@Composite struct B { var writer: Int = 0 }")
        #expect(composite.words.contains("writer.put(Cairn.TypedKind.of((Int).self), self.writer)"))
    }

    private static let refused: [Misused] = [
        .member(
            "unique and derived", #"@Attribute(.unique, derived: "b") var a: String?"#,
            "2:12 a derived attribute is computed by saves: it cannot be unique"),
        .member(
            "a derived key",
            #"#Unique<A>([\.a])"# + "\n" + #"@Attribute(derived: "b") var a: Int?"#,
            "2:13 a derived attribute is computed by saves: it cannot be unique"),
        .member(
            "unique and transformed",
            "@Attribute(.unique, .transformable(by: T.self)) var a: Paint?",
            "2:12 this is stored as bytes without a canonical form: it cannot be unique"),
        .member(
            "unique and a collection", "@Attribute(.unique) var a: [String]",
            "2:12 this is stored as bytes without a canonical form: it cannot be unique"),
        .member(
            "two transformers", "@Attribute(.codable, .transformable(by: T.self)) var a: Paint?",
            "2:12 an attribute can only be stored in one way: .codable or .transformable(by:)",
            "2:22 an attribute can only be stored in one way: .codable or .transformable(by:)"),
        .member(
            "nothing to be shown for bytes that are no value",
            "@Attribute(.transformable(by: T.self)) var a: Paint",
            "2:12 stored bytes may be unreadable: give the property a default value, or make it optional"
        ),
        .member(
            "nothing to be shown for JSON that is no value", "@Attribute(.codable) var a: Shade",
            "2:12 stored bytes may be unreadable: give the property a default value, or make it optional"
        ),
        .member(
            "derived and transformed",
            #"@Attribute(.transformable(by: T.self), derived: "b") var a: Paint?"#,
            "2:12 a derived attribute is computed: there is nothing to transform"),
        .member(
            "a transformer without its label", "@Attribute(.transformable(T.self)) var a: Paint?",
            "2:12 write the options of @Attribute inline, such as '.unique'"),
        .member(
            "another option with arguments", "@Attribute(.unique(by: T.self)) var a: Int",
            "2:12 write the options of @Attribute inline, such as '.unique'"),
        .member(
            "a collection as a key", #"#Index<A>([\.a])"# + "\nvar a: Set<Tag>",
            "2:12 'a' is stored as bytes or is a to-many relationship: #Index takes other attributes and to-one relationships"
        ),
        .member(
            "a transformed key",
            #"#Unique<A>([\.a])"# + "\n@Attribute(.codable) var a: Shade = .light",
            "2:13 'a' is stored as bytes or is a to-many relationship: #Unique takes other attributes and to-one relationships"
        ),
        .member(
            "a length of a collection", "@Attribute(minimumLength: 1) var a: [String]",
            "2:12 'minimumLength' is only for strings"),
        .member(
            "a pattern of what is transformed",
            #"@Attribute(.codable, pattern: "x") var a: Shade = .light"#,
            "2:22 'pattern' is only for strings"),
        .member(
            "a limit of a dictionary", "@Attribute(minimumValue: 1) var a: [String: Int]?",
            "2:12 'minimumValue' is only for numbers, dates and strings"),
        .member(
            "a count of one object", "@Relationship(minimumModelCount: 1) var a: Tag?",
            "2:15 'minimumModelCount' is for to-many relationships: use 'isOptional: false' to require a target"
        ),
        .member(
            "the most of one object",
            "@Relationship(deleteRule: .deny, maximumModelCount: 1) var a: Tag?",
            "2:34 'maximumModelCount' is for to-many relationships: use 'isOptional: false' to require a target"
        ),
    ]

    @Test("Marks that contradict what they stand before", arguments: refused)
    func refusedMarks(_ misuse: Misused) {
        #expect(Expansion(misuse.source).reports == misuse.reports)
    }

    @Test(
        "Names that mean something already are refused",
        arguments: [
            "Columns", "_Parent", "_base", "_count", "_entity", "_parent", "_read", "_write",
            "`self`", "`Self`", "`Type`", "`Protocol`", "managedObjectContext", "hasChanges",
        ])
    func reserved(_ name: String) {
        let plain = name.filter { $0 != "`" }
        #expect(
            Expansion("@Entity final class A: ManagedObject {\nvar \(name): Int\n}").reports == [
                "2:5 '\(plain)' is a member of every managed object: give the property another name"
            ])
    }
}
