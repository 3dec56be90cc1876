// What is reported, with its line.

import Testing

@Suite("Lines left for a person")
struct ReportTests {
    @Test(
        "each is named with its line",
        arguments: [
            ("import Combine", "import Combine"), ("import os.log", "import os.log"),
            ("import SwiftUI", "import SwiftUI"),
            (
                "center.addObserver(self, selector: #selector(saved), name: n, object: nil)",
                "#selector"
            ),
            ("perform(Selector(\"saved\"))", "Selector"),
            ("token = note.observe(\\.title) { _, _ in }", "observe(\\.…)"),
            (
                "note.addObserver(self, forKeyPath: \"title\", options: [], context: nil)",
                "addObserver(_:forKeyPath:…)"
            ),
            ("class A { func f() { willChangeValue(forKey: \"a\") } }", "willChangeValue"),
            (
                "center.publisher(for: .NSManagedObjectContextDidSave).sink {}",
                "a publisher of notifications"
            ),
            (
                "let url = Bundle.main.url(forResource: \"Model\", withExtension: end)!",
                "Bundle.main"
            ),
            ("var modelBundle: Bundle { Bundle(for: Mood.self) }", "Bundle(for:)"),
            ("let modelBundle = Bundle(identifier: \"org.example.Model\")", "Bundle(identifier:)"),
            (
                "let c = NSPersistentCloudKitContainer(name: \"Shop\")",
                "NSPersistentCloudKitContainer"
            ),
            ("class Store: NSIncrementalStore {}", "NSIncrementalStore"),
            ("let delegate: NSCoreDataCoreSpotlightDelegate?", "NSCoreDataCoreSpotlightDelegate"),
            ("let name = \"\\(Note.self.classForCoder())\"", "classForCoder"),
            ("let type = NSClassFromString(\"Note\")", "NSClassFromString"),
            (
                "let file = folder.appendingPathComponent(\"VersionInfo.plist\")",
                "VersionInfo.plist"
            ),
            (
                "struct List: View { @FetchRequest(fetchRequest: r) var notes: [Note] }",
                "@FetchRequest"
            ),
            ("#if canImport(CoreData)\n#endif", "canImport(CoreData)"),
            (
                "extension Other { override func awakeFromInsert() {} }",
                "override in an extension of Other"
            ),
            (
                "extension Note { class func new() -> Self { self.init(entity: e, insertInto: c) } }",
                "self.init(entity:insertInto:)"
            ),
            ("let note = type.init(entity: e, insertInto: c)", "type.init(entity:insertInto:)"),
            (
                "let copy = type(of: note).init(entity: e, insertInto: c)",
                "type(of:).init(entity:insertInto:)"
            ),
            (
                "let u = bundle.url(forResource: \"VersionInfo\", withExtension: \"plist\")",
                "VersionInfo"
            ),
            ("protocol P { optional func count() -> Int }", "an optional requirement"),
            ("protocol P { optional var title: String { get } }", "an optional requirement"),
        ])
    func named(_ line: String, _ subject: String) throws {
        let (text, left) = try ported("import CoreData\n\n\(line)\n")
        #expect(text == "import CoreData\n\n\(line)\n")
        #expect(left == ["3: \(subject)"])
    }

    @Test(
        "nothing is reported that is right as it is",
        arguments: [
            "class Note: NSManagedObject { func set() { willChangeValue(forKey: \"a\") } }",
            "let formatter = makeFormatter(); formatter.observe(1)",
            "let note = Note.init(entity: e, insertInto: c)",
            "let request = NSFetchRequest<NSDictionary>(entityName: \"VersionInfo\")",
            "extension Note { convenience init(_ c: C) { self.init(entity: e, insertInto: c) } }",
            "#if canImport(Combine)\nimport Combine\n#endif",
            "#if !os(Linux)\nlet s = #selector(saved)\n#else\nlet s = 1\n#endif",
            "let moment = \"momentary\"", "let optional: Int? = 1",
            "let model = NSManagedObjectModel.mergedModel(from: [Bundle(for: Note.self)])",
            "let domain = Bundle(for: type(of: self)).bundleIdentifier",
        ])
    func silent(_ line: String) throws {
        #expect(try ported("import CoreData\n\(line)\n").left.isEmpty)
    }

    @Test("a file without Core Data is nobody's business, but for what does not compile")
    func others() throws {
        let source = "import Combine\nlet s = #selector(saved)\nlet c: NSClassFromString\n"
        let (text, left) = try ported(source)
        #expect(text == source)
        #expect(left.isEmpty)
    }

    @Test("lines are those of the file after the change, and before it with --dry-run")
    func lines() throws {
        let tree = try PortedTree([
            "A.swift": """
            import CoreData
            class Note: NSManagedObject {
                @NSManaged var title: String?
                func f() { let s = #selector(g) }
            }
            """
        ])
        #expect(tree.run("--dry-run").errors.contains("A.swift:4: #selector"))
        #expect(tree.run("--force").subjects == ["A.swift:9: #selector"])
    }
}
