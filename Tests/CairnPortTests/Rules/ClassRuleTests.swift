// What managed classes get: the required initializer, and overrides that stood in extensions.

import Testing

@Suite("Managed classes")
struct ClassRuleTests {
    @Test("a class with an override of the initializer gets the required one with the same body")
    func overriddenInitializer() throws {
        let source = """
            import CoreData
            open class Note: NSManagedObject {
                override init(entity description: NSEntityDescription, insertInto: NSManagedObjectContext?) {
                    super.init(entity: description, insertInto: insertInto)
                    count += 1
                }
                var count = 0
            }
            """
        #expect(
            try ported(source, linuxOnly: true).text == """
                import CoreData
                open class Note: NSManagedObject {
                    override init(entity description: NSEntityDescription, insertInto: NSManagedObjectContext?) {
                        super.init(entity: description, insertInto: insertInto)
                        count += 1
                    }

                    public required init(entity description: SchemaEntity, insertInto: ManagedObjectContext?) {
                        super.init(entity: description, insertInto: insertInto)
                        count += 1
                    }
                    var count = 0
                }
                """)
        #expect(
            try ported(source).text.contains(
                """

                    #if !canImport(ObjectiveC)
                    public required init(entity description: SchemaEntity, insertInto: ManagedObjectContext?) {
                        super.init(entity: description, insertInto: insertInto)
                        count += 1
                    }
                    #endif
                    var count
                """))
    }

    @Test("one that has the other override as a convenience initializer keeps that alone")
    func convenienceOverride() throws {
        let (text, _) = try ported(
            """
            import CoreData
            class Note: NSManagedObject {
                init(title: String) { super.init(entity: Self.entity(), insertInto: nil) }
                override convenience init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
                    self.init(title: "")
                }
            }
            """, linuxOnly: true)
        #expect(text.ranges(of: "entity: NSEntityDescription").count == 1)
        #expect(text.contains("required init(entity: SchemaEntity"))
    }

    @Test("a class with designated initializers of its own gets it, one with none does not")
    func ownInitializer() throws {
        let (text, left) = try ported(
            """
            import CoreData
            class Base: NSManagedObject {
                convenience init(title: String) { self.init() }
            }
            class Note: Base {
                init(context: NSManagedObjectContext, title: String) {
                    super.init(entity: Self.entity(), insertInto: context)
                }
            }
            class Service { init(name: String) {} }
            """, linuxOnly: true)
        #expect(
            text.contains(
                """
                    }

                    required init(entity: SchemaEntity, insertInto context: ManagedObjectContext?) {
                        super.init(entity: entity, insertInto: context)
                    }

                    override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
                        super.init(entity: entity, insertInto: context)
                    }
                }
                class Service
                """))
        #expect(text.split(separator: "required init").count == 2)
        #expect(left.isEmpty)
    }

    @Test("a class whose properties have no values cannot get it")
    func storedProperties() throws {
        let (_, left) = try ported(
            """
            import CoreData
            class Note: NSManagedObject {
                let cache: Cache
                init(cache: Cache) {
                    self.cache = cache
                    super.init(entity: Self.entity(), insertInto: nil)
                }
            }
            """)
        #expect(left == ["3: a stored property without a value"])
    }

    @Test("overrides in an extension move into the class, also from another file")
    func overrides() throws {
        let tree = try PortedTree([
            "A.swift": """
            import CoreData
            class Note: NSManagedObject {
                var title = ""
            }
            public extension Note {
                func archive() {}

                // Told when it is new.
                override func awakeFromInsert() {
                    title = "new"
                }
            }
            """,
            "B.swift": """
            import CoreData
            extension Note {
                override func willSave() {
                    count()
                }
            }
            extension Note {
                override func didSave() {
                    secret()
                }
            }
            private func secret() {}
            extension Tag { override func willSave() {} }
            class Tag: Note {}
            """,
        ])
        let run = tree.run("--force")
        #expect(
            try tree.text("A.swift") == """
                import CoreData
                class Note: NSManagedObject {
                    var title = ""

                    // Told when it is new.
                    public override func awakeFromInsert() {
                        title = "new"
                    }
                    override func willSave() {
                        count()
                    }
                }
                public extension Note {
                    func archive() {}
                }
                """)
        #expect(
            try tree.text("B.swift") == """
                import CoreData
                extension Note {
                    override func didSave() {
                        secret()
                    }
                }
                private func secret() {}
                class Tag: Note {
                    override func willSave() {}
                }
                """)
        #expect(run.subjects == ["B.swift:3: override in an extension of Note"])
        #expect(tree.run("--force").output.contains("changed: 0 lines in 0 files"))
    }
}
