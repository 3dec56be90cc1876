// What the macros of the module CoreData write, and what they refuse.

import Testing

@Suite("Macros for managed objects")
struct ManagedMacroTests {
    @Test("a property reads and writes by name, and leaves its declaration")
    func property() {
        let expansion = Expansion(
            """
            class Note: NSManagedObject {
                @NSManaged public var title: String!
            }
            """)
        #expect(expansion.reports == [])
        #expect(expansion.words.contains(#"get { _get("title") } set { _set("title", newValue) }"#))
        #expect(
            expansion.words.contains(
                #"static var _declared: CoreData._ManagedProperty { CoreData._ManagedProperty(Note.self, "title", (String?).self) }"#
            ))
        #expect(expansion.words.contains(": CoreData._ManagedDeclaration {"))
    }

    /// A declaration, and what its expansion has to contain.
    struct Case: Sendable, CustomTestStringConvertible {
        let source: String
        let parts: [String]

        init(_ source: String, _ parts: String...) {
            self.source = source
            self.parts = parts
        }

        var testDescription: String { source }
    }

    @Test(
        "the name of a function says what it does",
        arguments: [
            Case(
                "func addToTags(_ value: Tag)", #"{ _add("tags", value) }"#,
                #""tags", function: "addToTags", (Tag).self, isOrdered: false"#),
            Case("func addToTags(_ values: NSSet)", #"_add("tags", values)"#, "(NSSet).self"),
            Case("func addTagsObject(_ value: Tag)", #"_add("tags", value)"#),
            Case("func addTags(_ values: Set<Tag>)", #"_add("tags", values)"#),
            Case("func addTopics(_ values: NSSet)", #"_add("topics", values)"#),
            Case("func removeFromTags(_ value: Tag)", #"_remove("tags", value)"#),
            Case("func removeTagsObject(_ value: Tag)", #"_remove("tags", value)"#),
            Case(
                "func removeFromTags(at idx: Int)", #"_remove("tags", at: idx)"#,
                "(NSOrderedSet).self, isOrdered: true"),
            Case(
                "func insertIntoTags(_ value: Tag, at idx: Int)",
                #"_insert("tags", value, at: idx)"#, "(Tag).self, isOrdered: true"),
            Case(
                "func replaceTags(at indexes: NSIndexSet, with values: [Tag])",
                #"_replace("tags", at: indexes, with: values)"#, "([Tag]).self, isOrdered: true"),
        ])
    func function(_ example: Case) {
        let expansion = Expansion(
            "extension Models.Note {\n    @NSManagedAccessor \(example.source)\n}")
        #expect(expansion.reports == [])
        for part in example.parts + ["Models.Note.self"] {
            #expect(expansion.words.contains(part), "\(expansion.text)")
        }
    }

    @Test("a primitive property leads to the value of another one")
    func primitive() {
        let expansion = Expansion(
            """
            extension Note {
                @NSManaged private var primitiveTitle: String?
                @NSManaged var primitive: Bool
                @NSManaged var `default`: Int
            }
            """)
        #expect(expansion.reports == [])
        #expect(expansion.words.contains(#"_get("primitiveTitle", primitive: "title")"#))
        #expect(expansion.words.contains(#"Note.self, primitive: "title", (String?).self"#))
        #expect(expansion.words.contains(#"_get("primitive")"#))
        #expect(expansion.words.contains(#"_get("default")"#))
    }

    @Test(
        "what cannot be a managed property or function is reported with a sentence",
        arguments: [
            ("@NSManaged let a: Int", "the context sets a managed property: write 'var'"),
            ("@NSManaged var a: Int = 1", "has the default of the model, and no value here"),
            ("@NSManaged var a", "needs a type annotation: var a: String?"),
            ("@NSManaged static var a: Int", "belongs to objects, not to their class"),
            ("@NSManaged var a: Int { 1 }", "has no accessors here"),
            ("@NSManaged func addToA(_ a: A)", "for a function write @NSManagedAccessor"),
            ("@NSManagedAccessor var a: Int", "for a 'var' write @NSManaged"),
            ("@NSManagedAccessor func a(_ a: A)", "a is no function that Core Data writes"),
            ("@NSManagedAccessor func addToA(_ a: A) -> Int", "addToA is no function"),
            ("@NSManagedAccessor func addToA(_ a: A) {}", "the function has a body"),
        ])
    func refused(_ source: String, _ sentence: String) {
        let expansion = Expansion("class Note: NSManagedObject {\n    \(source)\n}")
        #expect(expansion.reports.contains { $0.contains(sentence) }, "\(expansion.reports)")
    }

    @Test("a managed property outside a class is reported")
    func outside() {
        let expansion = Expansion("struct Note {\n    @NSManaged var a: Int\n}")
        #expect(
            expansion.reports == [
                "2:5 @NSManaged belongs to a class of managed objects, or to an extension of one"
            ])
    }
}
