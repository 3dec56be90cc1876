// What becomes of expressions and imports.

import Foundation
import Testing

@Suite("Expressions that Linux does not compile")
struct ExpressionRuleTests {
    @Test(
        "#keyPath becomes its string",
        arguments: [
            ("#keyPath(Note.title)", "\"title\""),
            ("NSStringFromSelector(#selector(getter: Note.title))", "\"title\""),
            ("NSStringFromSelector(#selector(getter: done))", "\"isDone\""),
            ("#keyPath(Note.author.name)", "\"author.name\""),
            ("#keyPath(Shop.Note.author.name)", "\"author.name\""),
            ("#keyPath(title)", "\"title\""),
            ("#keyPath(Self.title)", "\"title\""),
            ("#keyPath(Note.URL)", "\"URL\""),
            ("#keyPath(Note.`default`)", "\"default\""),
            ("#keyPath(Note.done)", "\"isDone\""),
            ("#keyPath(done)", "\"isDone\""),
            ("\"\\(#keyPath(Note.title)) == %@\"", "\"title == %@\""),
        ])
    func keyPath(_ written: String, _ expected: String) throws {
        let frame = { (key: String) in
            """
            import CoreData
            class Note: NSManagedObject {
                func sorted() -> String { \(key) }
            }
            """
        }
        let done = "\nextension Note { @objc(isDone) var done: Bool { true } }"
        #expect(
            try ported(frame(written) + done).text.hasPrefix(frame(expected)))
    }

    @Test("states of an operation are told by their key paths; what is no operation is reported")
    func operationStates() throws {
        let written = """
            import CoreData
            class SaveOperation: Operation {
                func finish() {
                    self.willChangeValue(forKey: "isFinished")
                    didChangeValue(forKey: "isFinished")
                    willChangeValue(forKey: "progress")
                }
            }
            class Model { func finish() { willChangeValue(forKey: "isFinished") } }
            class NoteOperation: NSManagedObject { func end() { didChangeValue(forKey: "isFinished") } }
            """
        let (text, left) = try ported(written, linuxOnly: true)
        #expect(text.contains("func end() { didChangeValue(forKey: \"isFinished\") }"))
        #expect(text.contains("self.willChangeValue(for: \\.isFinished)"))
        #expect(text.contains(" didChangeValue(for: \\.isFinished)"))
        #expect(left.count == 2)
        let everywhere = try ported(written)
        #expect(everywhere.text.contains("self.willChangeValue(forKey: \"isFinished\")"))
        #expect(everywhere.left.count == 4)
    }

    @Test("a part of the module becomes the module; a declaration of it stays")
    func imports() throws {
        let (text, _) = try ported(
            """
            @preconcurrency import CoreData.NSFetchRequest // requests
            import class CoreData.NSManagedObject
            """)
        #expect(
            text == """
                @preconcurrency import CoreData // requests
                import class CoreData.NSManagedObject
                """)
    }

    @Test("a class that Foundation has as well is imported from Core Data")
    func foundation() throws {
        let (text, _) = try ported(
            """
            // The head.
            import CoreData // the store
            import Foundation
            import XCTest

            let left: NSExpression = NSExpression(forKeyPath: "a")
            let both = predicate as? NSComparisonPredicate
            let type: NSCompoundPredicate.LogicalType = .and
            final class Urls: Foundation.ValueTransformer {}
            Foundation.UndoManager().undo()
            """)
        #expect(
            text == """
                // The head.
                import CoreData // the store
                import class CoreData.NSComparisonPredicate
                import class CoreData.NSCompoundPredicate
                import class CoreData.NSExpression
                import Foundation
                import XCTest

                let left: NSExpression = NSExpression(forKeyPath: "a")
                let both = predicate as? NSComparisonPredicate
                let type: NSCompoundPredicate.LogicalType = .and
                final class Urls: ValueTransformer {}
                UndoManager().undo()
                """)
        #expect(
            try ported("public import Foundation\nlet p: NSComparisonPredicate?").text
                == "public import Foundation\npublic import class CoreData.NSComparisonPredicate\nlet p: NSComparisonPredicate?"
        )
        // The one word of Core Data's is enough, in a file that does not import the module.
        let clauses =
            "import Foundation\nlet all = NSCompoundPredicate(type: .and, subpredicates: [])"
        #expect(
            try ported(clauses).text
                == clauses.replacing("\n", with: "\nimport class CoreData.NSCompoundPredicate\n"))
        for plain in [
            "import CoreData\nimport Foundation\nlet d: NSExpressionDescription",
            "import CoreData\nlet e: NSExpression?",
        ] {
            #expect(try ported(plain).text == plain)
        }
    }

    @Test("the comparison of a sort descriptor becomes its name")
    func sortSelector() throws {
        let (text, left) = try ported(
            """
            import CoreData
            let a = NSSortDescriptor(key: "a", ascending: true, selector: #selector(NSString.localizedStandardCompare(_:)))
            let b = NSSortDescriptor(key: "b", ascending: true, selector: #selector(NSString.caseInsensitiveCompare))
            let c = NSSortDescriptor(key: "c", ascending: true, selector: #selector(Note.order(_:by:)))
            """)
        #expect(
            text.hasPrefix(
                """
                import CoreData
                let a = NSSortDescriptor(key: "a", ascending: true, selector: Selector(("localizedStandardCompare:")))
                let b = NSSortDescriptor(key: "b", ascending: true, selector: Selector(("caseInsensitiveCompare:")))
                """))
        #expect(left == ["4: #selector"])
    }

    @Test("the name of a getter becomes its key")
    func getters() throws {
        let (text, left) = try ported(
            """
            import CoreData
            class Note: NSManagedObject {
                @objc(isDone) var done: Bool { true }
                let keys = [
                    NSStringFromSelector(#selector(getter: title)),
                    NSStringFromSelector(#selector(getter: Author.name)),
                    NSStringFromSelector(#selector(getter: self.done)),
                ]
                let setter = NSStringFromSelector(#selector(setter: title))
            }
            """, linuxOnly: true)
        #expect(
            text == """
                import CoreData
                class Note: NSManagedObject {
                    var done: Bool { true }
                    let keys = [
                        "title",
                        "name",
                        "isDone",
                    ]
                    let setter = NSStringFromSelector(#selector(setter: title))
                }
                """)
        #expect(left == ["9: #selector"])
    }

    @Test("a compiled model becomes the one that is saved")
    func modelEndings() throws {
        let source = """
            import CoreData
            let url = Bundle.module.url(forResource: "Shop", withExtension: "momd")!
            let versions = urls(forResourcesWithExtension: "mom", subdirectory: "\\(name).momd")
            enum Ending: String {
                case model = "momd"
            }
            let others = ["moment", "a.mom.b", "cdm"]
            """
        #expect(
            try ported(source, linuxOnly: true).text == """
                import CoreData
                let url = Bundle.module.url(forResource: "Shop", withExtension: "xcdatamodeld")!
                let versions = urls(forResourcesWithExtension: "xcdatamodel", subdirectory: "\\(name).xcdatamodeld")
                enum Ending: String {
                    case model = "xcdatamodeld"
                }
                let others = ["moment", "a.mom.b", "xcmappingmodel"]
                """)
        let (text, left) = try ported(source)
        #expect(
            text == """
                import CoreData
                let url = Bundle.module.url(forResource: "Shop", withExtension: builtModelExtension)!
                let versions = urls(forResourcesWithExtension: builtModelVersionExtension, subdirectory: "\\(name).\\(builtModelExtension)")
                enum Ending: String {
                    #if canImport(ObjectiveC)
                    case model = "momd"
                    #else
                    case model = "xcdatamodeld"
                    #endif
                }
                let others = ["moment", "a.mom.b", builtMappingModelExtension]

                #if canImport(ObjectiveC)
                private let builtModelExtension = "momd"
                #else
                private let builtModelExtension = "xcdatamodeld"
                #endif

                #if canImport(ObjectiveC)
                private let builtModelVersionExtension = "mom"
                #else
                private let builtModelVersionExtension = "xcdatamodel"
                #endif

                #if canImport(ObjectiveC)
                private let builtMappingModelExtension = "cdm"
                #else
                private let builtMappingModelExtension = "xcmappingmodel"
                #endif

                """)
        #expect(left.isEmpty)
        let plain = "let a = \"mom\"\n"
        #expect(try ported(plain).text == plain)
    }

    @Test("an observer of notifications is a closure on Linux")
    func notifications() throws {
        let source = """
            import CoreData
            final class Watch {
                init() {
                    NotificationCenter.default.addObserver(
                        self, selector: #selector(Watch.saved(_:)), name: .saved, object: context)
                    center.addObserver(self, selector: #selector(reset), name: nil, object: nil)
                    center.addObserver(self, selector: #selector(unknown), name: nil, object: nil)
                }
                deinit { center.removeObserver(self) }
                @objc func saved(_ notification: Notification) {}
                @objc func reset() {}
            }
            """
        let (text, left) = try ported(source, linuxOnly: true)
        #expect(
            text.contains(
                """
                        _ = NotificationCenter.default.addObserver(forName: .saved, object: context, queue: nil) { [weak self] notification in self?.saved(notification) }
                        _ = center.addObserver(forName: nil, object: nil, queue: nil) { [weak self] _ in self?.reset() }
                        center.addObserver(self, selector: #selector(unknown)
                """))
        #expect(left == ["6: #selector"])
        #expect(
            try ported(source).text.contains(
                """
                        #if canImport(ObjectiveC)
                        center.addObserver(self, selector: #selector(reset), name: nil, object: nil)
                        #else
                        _ = center.addObserver(
                """))
        let removing = source.replacing("deinit", with: "func stop()")
        #expect(try ported(removing).left.count == 3)
    }

    @Test("a selector with a name goes with its observers, and stays if somebody else uses it")
    func namedSelectors() throws {
        let source = """
            import CoreData
            final class Watch {
                func start() {
                    let saved = #selector(Watch.saved(_:))
                    center.addObserver(self, selector: saved, name: .saved, object: nil)
                    center.addObserver(self, selector: saved, name: .merged, object: nil)
                    let other = #selector(Watch.saved(_:))
                    center.addObserver(self, selector: other, name: .saved, object: nil)
                    perform(other)
                }
                func saved(_ notification: Notification) {}
            }
            """
        let (text, left) = try ported(source)
        #expect(
            text.contains(
                """
                        #if canImport(ObjectiveC)
                        let saved = #selector(Watch.saved(_:))
                        #endif
                        #if canImport(ObjectiveC)
                        center.addObserver(self, selector: saved, name: .saved, object: nil)
                        #else
                        _ = center.addObserver(forName: .saved, object: nil, queue: nil) { [weak self] notification in self?.saved(notification) }
                        #endif
                """))
        #expect(left.count == 1)
        #expect(try !ported(source, linuxOnly: true).text.contains("let saved"))
    }

    @Test("Core Data is imported where its names are used")
    func missingImport() throws {
        #expect(
            try ported("// Bundles.\n\nimport Foundation\n\nlet m: NSManagedObjectModel?\n").text
                == "// Bundles.\n\nimport CoreData\nimport Foundation\n\nlet m: NSManagedObjectModel?\n"
        )
        #expect(
            try ported("let m: NSManagedObjectModel?").text
                == "import CoreData\nlet m: NSManagedObjectModel?")
        let ignored = "#if os(iOS)\nlet m: NSManagedObjectModel?\n#endif"
        #expect(try ported(ignored).text == ignored)
    }

    @Test("an array literal becomes a set by the initializer")
    func sets() throws {
        let (text, _) = try ported(
            """
            import CoreData
            let tags: NSSet = [work, home]
            var none: NSMutableSet? = []
            note.tags = [work] as NSSet
            let order: NSOrderedSet = [work]
            """)
        #expect(
            text == """
                import CoreData
                let tags: NSSet = NSSet(array: [work, home])
                var none: NSMutableSet? = NSMutableSet()
                note.tags = NSSet(array: [work]) as NSSet
                let order: NSOrderedSet = [work]
                """)
    }

    @Test("a literal that is assigned to a property that is a set becomes one")
    func assignedSet() throws {
        let (text, _) = try ported(
            """
            import CoreData
            class Book { var authors: NSSet?; var notes: NSMutableSet; var tags: [String] }
            class Shop { var tags: NSSet? }
            func fill(_ book: Book, _ shop: Shop?) {
                book.authors = [a, b]
                book.notes = []
                book.authors = other
                book.tags = ["t"]
                shop?.tags = ["t"]
            }
            """, linuxOnly: true)
        #expect(text.contains("book.authors = NSSet(array: [a, b])"))
        #expect(text.contains("book.notes = NSMutableSet()"))
        #expect(text.contains("book.authors = other\n"))
        // Of two properties with that name one is no set.
        #expect(text.contains("book.tags = [\"t\"]"))
        #expect(text.contains("shop?.tags = [\"t\"]"))
    }

    @Test("what may be something else of that name stays")
    func otherNames() throws {
        let source = """
            import CoreData
            class Book { var authors: NSSet?; var tags: NSSet? }
            func fill(_ filter: Filter, authors: [String], _ book: Book) {
                var authors = authors
                authors = []
                filter.tags = ["t"]
                book.authors = [a]
            }

            """
        let tree = try PortedTree([
            "A.swift": source, "B.swift": "struct Filter { var tags: [String] }\n",
        ])
        tree.run("--force", "--linux-only")
        #expect(
            try tree.text("A.swift")
                == source.replacingOccurrences(of: "= [a]", with: "= NSSet(array: [a])"))
    }

    @Test("a property that Xcode generates as a set counts as one")
    func generatedSet() throws {
        let tree = try PortedTree([
            "Fill.swift": "import CoreData\nfunc fill(_ shop: Shop) { shop.books = [a] }\n"
        ])
        try tree.write(
            "Shop.xcdatamodel/contents",
            """
            <model><entity name="Shop" representedClassName="Shop" codeGenerationType="class">
            <relationship name="books" optional="YES" toMany="YES" destinationEntity="Shop"/>
            </entity></model>
            """)
        tree.run("--force")
        #expect(try tree.text("Fill.swift").contains("shop.books = NSSet(array: [a])"))
    }

    @Test("a cast of a class's request becomes a request with its entity")
    func castOfFetchRequest() throws {
        let (text, left) = try ported(
            "import CoreData\nlet request = Note.fetchRequest() as! NSFetchRequest<NSFetchRequestResult>"
        )
        #expect(
            text
                == "import CoreData\nlet request = NSFetchRequest<NSFetchRequestResult>(entityName: Note.entity().name!)"
        )
        #expect(left.isEmpty)
    }

    @Test("any other cast becomes a copy on Linux")
    func cast() throws {
        let source = """
            import CoreData
            func clear(_ request: NSFetchRequest<Note>) throws {
                let batch = NSBatchDeleteRequest(
                    fetchRequest: request as! NSFetchRequest<NSFetchRequestResult>)
                guard let other = request as? NSFetchRequest<NSManagedObject> else { return }
            }
            """
        #expect(
            try ported(source, linuxOnly: true).text == """
                import CoreData
                func clear(_ request: NSFetchRequest<Note>) throws {
                    let batch = NSBatchDeleteRequest(
                        fetchRequest: NSFetchRequest<NSFetchRequestResult>(request))
                    guard let other = Optional(NSFetchRequest<NSManagedObject>(request)) else { return }
                }
                """)
        let (text, left) = try ported(source)
        #expect(
            text.hasPrefix(
                """
                import CoreData
                func clear(_ request: NSFetchRequest<Note>) throws {
                    #if canImport(ObjectiveC)
                    let batch = NSBatchDeleteRequest(
                        fetchRequest: request as! NSFetchRequest<NSFetchRequestResult>)
                    #else
                    let batch = NSBatchDeleteRequest(
                        fetchRequest: NSFetchRequest<NSFetchRequestResult>(request))
                    #endif
                """))
        #expect(left.isEmpty)
    }

    @Test("the cast of a copy becomes a copy")
    func castOfCopy() throws {
        let (text, left) = try ported(
            """
            import CoreData
            func page(_ request: NSFetchRequest<Note>) {
                let page = request.copy() as! NSFetchRequest<Note>
            }
            """, linuxOnly: true)
        #expect(text.contains("let page = NSFetchRequest<Note>(request)\n"))
        #expect(left.isEmpty)
    }

    @Test("a cast that cannot be written for both, or needs a person's mind, is left")
    func leftCasts() throws {
        let (text, left) = try ported(
            """
            import CoreData
            class Source {
                lazy var all = request as! NSFetchRequest<NSFetchRequestResult>
                func change(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
                    _ = controller as! NSFetchedResultsController<Note>
                }
            }
            """)
        #expect(text.contains("lazy var all = request as! NSFetchRequest<NSFetchRequestResult>"))
        #expect(
            left == [
                "3: a cast to NSFetchRequest<…>", "5: a cast to NSFetchedResultsController<…>",
            ]
        )
    }

    @Test("arguments of predicates are passed as an array if one is a CVarArg")
    func predicateArguments() throws {
        let (text, left) = try ported(
            """
            import CoreData
            let some = NSPredicate(format: "date > %@ AND rank == %d", date as CVarArg, 3)
            let plain = NSPredicate(format: "rank == %d", 3)
            let own = matching("date > %@", date as CVarArg)
            """)
        #expect(
            text.hasPrefix(
                """
                import CoreData
                let some = NSPredicate(format: "date > %@ AND rank == %d", argumentArray: [date, 3])
                let plain = NSPredicate(format: "rank == %d", 3)
                """))
        #expect(left == ["4: as CVarArg"])
    }

    @Test("a kind of file protection that is cast to an object is its text")
    func fileProtection() throws {
        let (text, left) = try ported(
            """
            import CoreData
            let complete = FileProtectionType.complete as NSObject
            description.setOption(FileProtectionType.none as NSString, forKey: key)
            let kind = FileProtectionType.none
            let other = value as? FileProtectionType
            """)
        #expect(
            text.hasPrefix(
                """
                import CoreData
                let complete = NSString(string: FileProtectionType.complete.rawValue)
                description.setOption(NSString(string: FileProtectionType.none.rawValue), forKey: key)
                let kind = FileProtectionType.none
                let other = value as? FileProtectionType
                """))
        #expect(left.isEmpty)
    }

    @Test("a function that passes C arguments to a predicate takes anything")
    func predicateWrappers() throws {
        let (text, left) = try ported(
            """
            import CoreData
            extension NSPredicate {
                convenience init(_ format: String, _ arguments: CVarArg...) {
                    self.init(format: format, arguments: getVaList(arguments))
                }
            }
            func matching(_ format: String, with values: CVarArg...) -> NSPredicate {
                withVaList(values) { NSPredicate(format: format, arguments: $0) }
            }
            func all(_ format: String, _ values: any CVarArg...) -> NSPredicate {
                return NSPredicate(format: format, argumentArray: values)
            }
            func log(_ format: String, _ values: CVarArg...) { print(format, values) }
            func both(_ format: String, _ values: CVarArg...) -> NSPredicate {
                print(values)
                return NSPredicate(format: format, argumentArray: values)
            }
            """)
        #expect(
            text.hasPrefix(
                """
                import CoreData
                extension NSPredicate {
                    convenience init(_ format: String, _ arguments: Any...) {
                        self.init(format: format, argumentArray: arguments)
                    }
                }
                func matching(_ format: String, with values: Any...) -> NSPredicate {
                    NSPredicate(format: format, argumentArray: values)
                }
                func all(_ format: String, _ values: Any...) -> NSPredicate {
                    return NSPredicate(format: format, argumentArray: values)
                }
                func log(_ format: String, _ values: CVarArg...) { print(format, values) }
                """))
        #expect(left == ["14: CVarArg... for a predicate"])
    }
}
