// What the macros say where they cannot do what is asked of them: the sentence, and its place.

import Testing

/// A text and what is reported, as line, column and sentence.
struct Misused: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let source: String
    let reports: [String]

    init(_ title: String, _ source: String, _ reports: String...) {
        self.init(title, source, reports)
    }

    init(_ title: String, _ source: String, _ reports: [String]) {
        testDescription = title
        self.source = source
        self.reports = reports
    }

    /// A case in the body of an entity, whose first line is 2.
    static func member(_ title: String, _ member: String, _ reports: String...) -> Misused {
        Misused(title, "@Entity final class A: ManagedObject {\n\(member)\n}", reports)
    }
}

@Suite("What the macros refuse")
struct MisuseTests {
    private static let classes: [Misused] = [
        Misused(
            "a struct", "@Entity struct A { var a: Int }",
            "1:9 an entity must be a class: write 'final class'"),
        Misused(
            "an enum", "@Entity enum A { case a }",
            "1:9 an entity must be a class: write 'final class'"),
        Misused(
            "an actor", "@Entity actor A { var a: Int }",
            "1:9 an entity must be a class: write 'final class'"),
        Misused(
            "no superclass", "@Entity final class A { var a: Int }",
            "1:21 an entity must inherit from ManagedObject or from another entity"),
        Misused(
            "a generic class", "@Entity class A<T>: ManagedObject { var a: Int }",
            "1:16 an entity cannot be generic: the store has one entity of that name"),
        Misused(
            "on the main actor", "@Entity @MainActor final class A: ManagedObject { var a: Int }",
            "1:9 objects belong to their context, not to @MainActor: write 'nonisolated' instead"),
        Misused(
            "a name that is no literal", "@Entity(name) final class A: ManagedObject { }",
            "1:9 this must be a string literal, because the macro reads it"),
    ]

    private static let properties: [Misused] = [
        .member(
            "no type", "var a = 0",
            "2:5 a persistent property needs a type annotation: var a: Int = 0"),
        .member(
            "didSet", "var a: Int = 0 { didSet { print(a) } }",
            "2:18 a persistent property cannot have observers, which would never run: mark it @Transient, or observe the context"
        ),
        .member(
            "willSet", "var a: Int = 0 { willSet { } }",
            "2:18 a persistent property cannot have observers, which would never run: mark it @Transient, or observe the context"
        ),
        .member(
            "two names", "var a: Int, b: Int",
            "2:5 declare each persistent property on its own, with its own 'var'"),
        .member(
            "a tuple", "var (a, b): (Int, Int)",
            "2:5 a persistent property cannot be declared with a tuple pattern"),
        .member(
            "a constant without a value", "let a: Int",
            "2:1 a persistent property must be a variable: write 'var', or give the constant a value"
        ),
        .member(
            "@Transient without a value", "@Transient var a: Int",
            "2:16 a transient property needs a default value: objects are created by their context, without arguments"
        ),
        .member(
            "weak", "weak var a: Tag?",
            "2:1 a relationship does not retain its objects: remove 'weak'"),
        .member(
            "unowned", "unowned var a: Tag",
            "2:1 a relationship does not retain its objects: remove 'unowned'"),
        .member(
            "override", "override var a: Int",
            "2:1 an inherited persistent property cannot be redeclared"),
        .member(
            "implicitly unwrapped", "var a: String!",
            "2:8 a persistent property cannot be implicitly unwrapped: write '?' instead of '!'"),
        .member(
            "a taken name", "var objectID: Int",
            "2:5 'objectID' is a member of every managed object: give the property another name"
        ),
        .member(
            "another taken name", "var `description`: String",
            "2:5 'description' is a member of every managed object: give the property another name"
        ),
        .member(
            "inside #if", "#if DEBUG\nvar a: Int\n#endif",
            "3:5 a persistent property cannot be inside #if: the macro does not see it"),
        .member(
            "a validation inside #if",
            "#if DEBUG\nfunc validateA(_ value: inout Int) {}\n#endif",
            "3:6 a method that validates a property cannot be inside #if: the macro does not see it"
        ),
        .member(
            "a designated initializer", "init(a: Int) { }",
            "2:1 objects are created by their context: write 'convenience init' and call self.init(context:)"
        ),
    ]

    private static let marks: [Misused] = [
        .member(
            "both marks", "@Attribute(.unique) @Relationship var a: Tag?",
            "2:21 a property can be marked @Attribute or @Relationship, but not both"),
        .member(
            "@Attribute and @Transient", "@Attribute(.unique) @Transient var a: Int = 0",
            "2:21 a property can be marked @Attribute or @Transient, but not both"),
        .member(
            "@Attribute on a computed property", "@Attribute(.unique) var a: Int { 1 }",
            "2:1 @Attribute is for stored properties of objects: 'var name: Type'"),
        .member(
            "@Relationship on a function", "@Relationship func a() {}",
            "2:1 @Relationship is for stored properties of objects: 'var name: Type'"),
        .member(
            "@Attribute on a static property", "@Attribute(.unique) static var a: Int = 1",
            "2:1 @Attribute is for stored properties of objects: 'var name: Type'"),
        .member(
            "@Attribute on a constant", "@Attribute(.unique) let a: Int = 1",
            "2:1 @Attribute is for stored properties of objects: 'var name: Type'"),
        .member(
            "an option from elsewhere", "@Attribute(option) var a: Int",
            "2:12 write the options of @Attribute inline, such as '.unique'"),
        .member(
            "a text from elsewhere", "@Attribute(originalName: name) var a: Int",
            "2:26 this must be a string literal, because the macro reads it"),
        .member(
            "a text with an interpolation", #"@Relationship(originalName: "a\(b)") var a: Tag?"#,
            "2:29 this must be a string literal, because the macro reads it"),
        .member(
            "an inverse over two steps", #"@Relationship(inverse: \Tag.a.b) var a: Tag?"#,
            #"2:24 write the inverse as a key path, '\Tag.products', or as a string, "products""#
        ),
        .member(
            "an inverse from elsewhere", "@Relationship(inverse: path) var a: Tag?",
            #"2:24 write the inverse as a key path, '\Tag.products', or as a string, "products""#
        ),
        .member(
            "a derived attribute with a default", #"@Attribute(derived: "b") var a: Int = 1"#,
            "2:37 a derived attribute is computed by the store: it cannot have a default value"),
        .member(
            "a length of a number", "@Attribute(minimumLength: 1) var a: Int?",
            "2:12 'minimumLength' is only for strings"),
        .member(
            "a pattern of a date", #"@Attribute(pattern: "x") var a: Foundation.Date"#,
            "2:12 'pattern' is only for strings"),
        .member(
            "a string in external storage", "@Attribute(.externalStorage) var a: String",
            "2:12 only Data and Codable values can be stored externally"),
        .member(
            "unique and ephemeral", "@Attribute(.unique, .ephemeral) var a: Int",
            "2:12 an ephemeral attribute is not stored: it cannot be unique"),
        Misused(
            "@Attribute outside an entity", "class A { @Attribute(.unique) var a: Int = 0 }",
            "1:11 @Attribute can only be used in a class marked @Entity"),
        Misused(
            "@Transient in a composite", "@Composite struct A { @Transient var a: Int = 0 }",
            "1:23 @Transient can only be used in a class marked @Entity"),
        Misused(
            "#Unique outside an entity", #"class A { #Unique<A>([\.a]) }"#,
            "1:11 #Unique can only be used in a class marked @Entity"),
    ]

    private static let lists: [Misused] = [
        .member(
            "keys from elsewhere", "#Unique<A>(keys)\nvar a: Int",
            #"2:12 #Unique takes lists of key paths written inline: [\.name, \.price]"#),
        .member(
            "a key from elsewhere", "#Index<A>([key])\nvar a: Int",
            #"2:12 #Index takes lists of key paths written inline: [\.name, \.price]"#),
        .member(
            "no list", "#Unique<A>()\nvar a: Int", "2:1 #Unique requires at least one property"),
        .member(
            "an empty list", "#Index<A>([])\nvar a: Int",
            "2:11 #Index requires at least one property"),
        .member(
            "somebody else's", #"#Unique<B>([\.a])"# + "\nvar a: Int",
            "2:9 this belongs to A: write #Unique<A>"),
        .member(
            "an unknown key", #"#Unique<A>([\.a, \.b])"# + "\nvar a: Int",
            "2:18 A has no persistent property 'b'"),
        .member(
            "a transient key", #"#Unique<A>([\.a])"# + "\n@Transient var a: Int = 0",
            "2:13 A has no persistent property 'a'"),
        .member(
            "a key twice", #"#Unique<A>([\.a, \.a])"# + "\nvar a: Int",
            "2:18 'a' is already in this list"),
        .member(
            "a key up and down",
            #"#Index<A>([.ascending(\.a), .descending(\.a)])"# + "\nvar a: Int",
            "2:29 'a' is already in this list"),
        .member(
            "an index twice",
            #"#Index<A>([\.a], [.descending(\.a)])"# + "\n"
                + #"#Index<A>([.ascending(\.a)])"# + "\nvar a: Int",
            "3:1 there is already an index of these keys"),
        .member(
            "an unknown key that descends", #"#Index<A>([.descending(\.b)])"# + "\nvar a: Int",
            "2:12 A has no persistent property 'b'"),
        .member(
            "another direction", #"#Index<A>([.sideways(\.a)])"# + "\nvar a: Int",
            #"2:12 #Index takes lists of key paths written inline: [\.name, \.price]"#),
        .member(
            "a direction without a key", "#Index<A>([.descending(key)])\nvar a: Int",
            #"2:12 #Index takes lists of key paths written inline: [\.name, \.price]"#),
        .member(
            "a direction in a constraint", #"#Unique<A>([.descending(\.a)])"# + "\nvar a: Int",
            #"2:13 #Unique takes lists of key paths written inline: [\.name, \.price]"#),
        .member(
            "an ephemeral key", #"#Index<A>([\.a])"# + "\n@Attribute(.ephemeral) var a: Int",
            "2:12 'a' is ephemeral and not stored: #Index cannot use it"),
        .member(
            "a to-many relationship", #"#Index<A>([\.a])"# + "\n@Relationship var a: Set<Tag>",
            "2:12 'a' is a to-many relationship: #Index takes attributes and to-one relationships"),
        .member(
            "an ordered to-many relationship",
            #"#Unique<A>([\.a])"# + "\n@Relationship var a: [Tag] = []",
            "2:13 'a' is a to-many relationship: #Unique takes attributes and to-one relationships"),
        Misused(
            "#Index outside an entity", #"class A { #Index<A>([.descending(\.a)]) }"#,
            "1:11 #Index can only be used in a class marked @Entity"),
        Misused(
            "an index of somebody else", #"@Entity class A: B { #Index<B>([\.a]) }"#,
            "1:29 this belongs to A: write #Index<A>"),
    ]

    private static let composites: [Misused] = [
        Misused(
            "a class", "@Composite class A { var a: Int = 0 }", "1:1 a composite must be a struct"),
        Misused(
            "a generic struct", "@Composite struct A<T> { var a: Int }",
            "1:20 a composite cannot be generic"),
        Misused(
            "no properties", "@Composite struct A { }",
            "1:19 a composite needs at least one stored property"),
        Misused(
            "no type", "@Composite struct A { var a = 0 }",
            "1:27 an element of a composite needs a type annotation"),
        Misused(
            "a constant", "@Composite struct A { let a: Int }",
            "1:23 an element of a composite must be a variable: write 'var'"),
    ]

    @Test("Classes that cannot be entities", arguments: classes)
    func refusedClasses(_ misuse: Misused) {
        let expansion = Expansion(misuse.source)
        #expect(expansion.reports == misuse.reports)
        // Nothing is written that would drown the report in others.
        if !misuse.testDescription.contains("literal") {
            #expect(!expansion.text.contains("Columns") && !expansion.text.contains("_read"))
            #expect(!expansion.text.contains("extension"))
        }
    }

    @Test("Properties that cannot be persistent", arguments: properties)
    func refusedProperties(_ misuse: Misused) {
        let expansion = Expansion(misuse.source)
        #expect(expansion.reports == misuse.reports)
        #expect(!expansion.text.contains("_read"))
    }

    @Test("Marks that make no sense", arguments: marks)
    func refusedMarks(_ misuse: Misused) {
        #expect(Expansion(misuse.source).reports == misuse.reports)
    }

    @Test("Lists of keys", arguments: lists)
    func refusedLists(_ misuse: Misused) {
        #expect(Expansion(misuse.source).reports == misuse.reports)
    }

    @Test("Structs that cannot be composites", arguments: composites)
    func refusedComposites(_ misuse: Misused) {
        let expansion = Expansion(misuse.source)
        #expect(expansion.reports == misuse.reports)
        #expect(!expansion.text.contains("extension"))
    }
}
