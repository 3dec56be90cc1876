// What becomes of @objc and @NSManaged.

import Testing

@Suite("Attributes of the Objective-C runtime")
struct AttributeRuleTests {
    @Test("for Linux alone, they go or get the module's name")
    func linuxOnly() throws {
        let (text, left) = try ported(
            """
            import CoreData

            @objc(Note)
            public class Note: NSManagedObject {
                @NSManaged public var title: String?
                @objc(isDone) @NSManaged dynamic public var done: Bool
                @objc func archive() {}
                @discardableResult @objc func close() -> Bool { true }
            }

            extension Note {
                @objc(addTagsObject:)
                @NSManaged public func addToTags(_ value: Tag)
            }

            @objcMembers final class Tag: NSManagedObject {}
            @objc enum Kind: Int16 { case draft }
            @objc protocol Listener { @objc func saved() }
            """, linuxOnly: true)
        #expect(
            text == """
                import CoreData

                public class Note: NSManagedObject {
                    @CoreData.NSManaged public var title: String?
                    @CoreData.NSManaged dynamic public var done: Bool
                    func archive() {}
                    @discardableResult func close() -> Bool { true }
                }

                extension Note {
                    @CoreData.NSManagedAccessor public func addToTags(_ value: Tag)
                }

                final class Tag: NSManagedObject {}
                enum Kind: Int16 { case draft }
                protocol Listener: AnyObject { func saved() }
                """)
        #expect(left.isEmpty)
    }

    @Test("for both, each platform has its own in front of one declaration")
    func bothPlatforms() throws {
        let (text, _) = try ported(
            """
            import CoreData

            /// A note.
            @objc(Note)
            public class Note: NSManagedObject {
                /// Its title.
                @NSManaged public var title: String!
                @nonobjc @objc(isDone) @NSManaged public var done: Bool
            }

            extension Note {
                @objc(addTagsObject:)
                @NSManaged public func addToTags(_ value: Tag)
            }
            """)
        #expect(
            text == """
                import CoreData

                /// A note.
                #if canImport(ObjectiveC)
                @objc(Note)
                #endif
                public class Note: NSManagedObject {
                    /// Its title.
                    #if canImport(ObjectiveC)
                    @NSManaged
                    #else
                    @CoreData.NSManaged
                    #endif
                    public var title: String!
                    #if canImport(ObjectiveC)
                    @objc(isDone) @NSManaged
                    #else
                    @CoreData.NSManaged
                    #endif
                    @nonobjc public var done: Bool
                }

                extension Note {
                    #if canImport(ObjectiveC)
                    @objc(addTagsObject:) @NSManaged
                    #else
                    @CoreData.NSManagedAccessor
                    #endif
                    public func addToTags(_ value: Tag)
                }
                """)
    }

    @Test("a comment between attributes stays, and so does what follows on a line")
    func comments() throws {
        let (text, _) = try ported(
            """
            import CoreData
            class Note: NSManagedObject { @NSManaged /* first */ var title: String? }
            extension Note {
                @objc // for the menu
                func archive() {}
            }
            """)
        #expect(
            text == """
                import CoreData
                class Note: NSManagedObject {
                    #if canImport(ObjectiveC)
                    @NSManaged
                    #else
                    @CoreData.NSManaged
                    #endif
                    /* first */ var title: String? }
                extension Note {
                    #if canImport(ObjectiveC)
                    @objc
                    #endif
                    // for the menu
                    func archive() {}
                }
                """)
    }

    @Test("in a file of the user interface only managed classes change")
    func screens() throws {
        let (text, left) = try ported(
            """
            import CoreData
            import UIKit

            class Controller: UIViewController {
                @objc func tapped() { title = #keyPath(UIView.frame) }
            }
            class Note: NSManagedObject {
                @objc enum Kind: Int { case a }
            }
            """, linuxOnly: true)
        #expect(text.contains("@objc func tapped() { title = #keyPath(UIView.frame) }"))
        #expect(text.contains("    enum Kind"))
        #expect(left == ["2: import UIKit"])
    }

    @Test("what Linux does not compile stays")
    func otherPlatforms() throws {
        let source = """
            import CoreData
            #if os(iOS) || canImport(AppKit) && DEBUG
            class Phone: NSManagedObject { @NSManaged var number: String? }
            #endif
            """
        #expect(try ported(source).text == source)
    }

    @Test("several variables in one declaration get one each")
    func severalVariables() throws {
        let (text, _) = try ported(
            """
            import CoreData
            class Place: NSManagedObject {
                @NSManaged public var latitude, longitude: Double, name: String?
            }
            """, linuxOnly: true)
        #expect(
            text == """
                import CoreData
                class Place: NSManagedObject {
                    @CoreData.NSManaged public var latitude: Double
                    @CoreData.NSManaged public var longitude: Double
                    @CoreData.NSManaged public var name: String?
                }
                """)
    }

    @Test("a function that no relationship has is left for a person")
    func unknownFunction() throws {
        let (text, left) = try ported(
            """
            import CoreData
            class Note: NSManagedObject {
                @NSManaged func primitiveTitle() -> String?
                @NSManaged func addTagsObject(_ value: Tag)
            }
            """, linuxOnly: true)
        #expect(text.contains(" @NSManaged func primitiveTitle()"))
        #expect(text.contains("@CoreData.NSManagedAccessor func addTagsObject("))
        #expect(left == ["3: @NSManaged func primitiveTitle"])
    }

    @Test("lines that end in two characters still do")
    func lineEnds() throws {
        let (text, _) = try ported(
            "import CoreData\r\nclass Note: NSManagedObject {\r\n    @NSManaged var a: Int\r\n}\r\n"
        )
        #expect(text.utf8.count(where: { $0 == 10 }) == text.utf8.count(where: { $0 == 13 }))
        #expect(text.contains("#else\r\n    @CoreData.NSManaged\r\n    #endif\r\n    var a: Int"))
    }
}
