// Whole trees: what is written and what is not, and what the command line says.

import ArgumentParser
import CairnTestSupport
import Foundation
import Testing

@testable import CairnPortMain

@Suite("Porting a tree")
struct PortTreeTests {
    private static let source = """
        import CoreData

        class Note: NSManagedObject {
            @NSManaged var title: String?
        }
        """

    @Test("what is not committed is changed only by force")
    func uncommitted() throws {
        let tree = try PortedTree(["A.swift": Self.source])
        let outside = tree.run()
        #expect(outside.code == 1)
        #expect(outside.errors.hasPrefix("cairn-port: DIR is not in a git repository"))
        try tree.git("init", "-q")
        #expect(tree.run().errors.contains("changes that are not committed (A.swift)"))
        try tree.git("add", ".")
        try tree.git("commit", "-qm", "A")
        try tree.write("B.swift", "let b = 1\n")
        #expect(tree.run().code == 1)
        #expect(try tree.text("A.swift") == Self.source)
        try tree.git("add", ".")
        try tree.git("commit", "-qm", "B")
        #expect(tree.run().code == 0)
        #expect(try tree.text("A.swift") != Self.source)
        // Nothing more to be changed, so nothing to be refused.
        #expect(tree.run().code == 0)
    }

    @Test("a file that git ignores is changed only by force")
    func ignored() throws {
        let tree = try PortedTree(["A.swift": Self.source, ".gitignore": "A.swift\n"])
        try tree.git("init", "-q")
        try tree.git("add", ".")
        try tree.git("commit", "-qm", "A")
        #expect(tree.run().errors.contains("A.swift is ignored by git"))
        #expect(tree.run("--force").code == 0)
    }

    @Test("what is not committed outside the folder is changed only by force")
    func uncommittedElsewhere() throws {
        let tree = try PortedTree(["A.swift": "import CoreData\n"])
        let classes = try PortedTree()
        func model(_ attribute: String) throws {
            try tree.write(
                "Z.xcdatamodel/contents",
                """
                <model><entity name="Tag" representedClassName="Tag" codeGenerationType="class">
                <attribute name="\(attribute)" optional="YES" attributeType="String"/></entity></model>
                """)
            try tree.git("add", ".")
            try tree.git("commit", "-qm", "A")
        }
        func run() -> PortedTree.Run { tree.run("--generated-classes", classes.folder.path) }
        try tree.git("init", "-q")
        try model("a")
        #expect(run().code == 0)
        try classes.git("init", "-q")
        try classes.git("add", ".")
        try classes.git("commit", "-qm", "A")
        let name = "Tag+CoreDataProperties.swift"
        let edited = try classes.text(name) + "// mine\n"
        try classes.write(name, edited)
        try model("b")
        let refused = run()
        #expect(refused.code == 1)
        #expect(refused.errors.contains("changes that are not committed (\(name))"))
        #expect(try classes.text(name) == edited)
        try classes.git("checkout", "-q", "--", ".")
        #expect(run().code == 0)
        #expect(try classes.text(name).contains("var b: String?"))
    }

    @Test("a dry run prints a patch and writes nothing")
    func dryRun() throws {
        let tree = try PortedTree([
            "A.swift": Self.source, "Sub/B.swift": "let k = #keyPath(Note.title)\nlet end = 1",
        ])
        let names = try tree.names
        let run = tree.run("--dry-run")
        #expect(run.code == 0)
        #expect(try tree.text("A.swift") == Self.source)
        #expect(try tree.names == names)
        try tree.write("all.patch", run.output)
        try tree.git("init", "-q")
        try tree.git("apply", "all.patch")
        let patched = try [tree.text("A.swift"), tree.text("Sub/B.swift")]
        let other = try PortedTree([
            "A.swift": Self.source, "Sub/B.swift": "let k = #keyPath(Note.title)\nlet end = 1",
        ])
        other.run("--force")
        #expect(try patched == [other.text("A.swift"), other.text("Sub/B.swift")])
    }

    @Test("a file of an old dialect is named with its first error, and left alone")
    func oldDialect() throws {
        let old = """
            import CoreData
            class Old: NSManagedObject {
                @NSManaged var title: String?
                func swap(inout other: Old) {}
            }
            """
        let tree = try PortedTree(["Old.swift": old, "A.swift": Self.source])
        let run = tree.run("--force")
        #expect(run.code == 4)
        #expect(
            run.output.contains("Old.swift:4: 'inout' before a parameter name is not allowed: "))
        #expect(try tree.text("Old.swift") == old)
        #expect(try tree.text("A.swift") != Self.source)
    }

    @Test("a file in another encoding is named")
    func otherEncoding() throws {
        let tree = try PortedTree()
        let bytes = Data("import CoreData\n// ".utf8) + Data([0xFC, 0x0A])
        try bytes.write(to: tree.folder.url("A.swift"))
        let run = tree.run("--force")
        #expect(run.code == 4)
        #expect(run.output.contains("A.swift: a file in another encoding: it is not UTF-8"))
    }

    @Test("a file in another encoding where a class would go is left alone")
    func otherEncodingOfClass() throws {
        let tree = try PortedTree()
        try tree.write(
            "Z.xcdatamodel/contents",
            """
            <model><entity name="Tag" representedClassName="Tag" codeGenerationType="class">
            <attribute name="a" optional="YES" attributeType="String"/></entity></model>
            """)
        let bytes = Data([0xFC, 0x0A])
        try bytes.write(to: tree.folder.url("Tag+CoreDataClass.swift"))
        let run = tree.run("--force")
        #expect(
            run.subjects == [
                "Tag+CoreDataClass.swift: a file in another encoding",
                "Tag+CoreDataClass.swift: an existing file",
            ])
        #expect(try Data(contentsOf: tree.folder.url("Tag+CoreDataClass.swift")) == bytes)
    }

    @Test("Objective-C and compiled models are named with the way out")
    func otherFiles() throws {
        let tree = try PortedTree([
            "Note.h": "@interface Note : NSManagedObject\n@end\n", "Note.m": "#import \"Note.h\"\n",
            "Other.m": "@implementation Note\n// NSManagedObject\n@end\n",
            "Shop.momd/VersionInfo.plist": "", "Old.mom": "",
        ])
        #expect(
            tree.run("--force").subjects == [
                "Note.h: Objective-C", "Old.mom: a compiled model", "Other.m: Objective-C",
                "Shop.momd: a compiled model",
            ])
    }

    @Test("dependencies, hidden folders and links are skipped")
    func skipped() throws {
        let tree = try PortedTree([
            "Pods/A.swift": Self.source, ".build/A.swift": Self.source, "A.swift": Self.source,
        ])
        let elsewhere = try PortedTree(["B.swift": Self.source])
        try FileManager.default.createSymbolicLink(
            atPath: tree.folder.path("B.swift"),
            withDestinationPath: elsewhere.folder.path("B.swift"))
        #expect(
            tree.run("--force").output.hasPrefix(
                "1 Swift file, 1 with Core Data in 3 lines; changed: "))
        #expect(try elsewhere.text("B.swift") == Self.source)
    }

    @Test("either all files are written or none, and none under another name stays")
    func allOrNothing() throws {
        let tree = try PortedTree(["A.swift": Self.source, "Sub/B.swift": Self.source])
        // A folder where a class would go stops the writing of the last file.
        try tree.write(
            "Z.xcdatamodel/contents",
            """
            <model><entity name="Tag" representedClassName="Tag" codeGenerationType="class">
            <attribute name="a" optional="YES" attributeType="String"/></entity></model>
            """)
        try tree.write("Classes", "")
        let names = try tree.names
        let run = tree.run("--force", "--generated-classes", tree.folder.path("Classes"))
        #expect(run.code == 1)
        #expect(run.errors.hasPrefix("cairn-port: nothing was changed: "))
        #expect(try tree.text("A.swift") == Self.source)
        #expect(try tree.names == names)
    }

    @Test("a file keeps its permissions")
    func permissions() throws {
        let tree = try PortedTree(["A.swift": Self.source])
        let path = tree.folder.path("A.swift")
        try FileManager.default.setAttributes([.posixPermissions: 0o751], ofItemAtPath: path)
        tree.run("--force")
        #expect(try tree.text("A.swift") != Self.source)
        let permissions = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        #expect(permissions as? Int == 0o751)
    }

    @Test("JSON has an object for each change and each line left, and the summary at last")
    func json() throws {
        let tree = try PortedTree([
            "A.swift": Self.source + "\nlet s = #selector(saved)\n",
            "B.swift": "import CoreData\nvar = 1",
        ])
        let run = tree.run("--dry-run", "--json")
        let objects = try run.json
        #expect(objects.count == 4)
        #expect(objects[0]["changed"] as? String == "A.swift")
        #expect((objects[0]["diff"] as? String)?.contains("-    @NSManaged var title") == true)
        #expect((objects[1]["unreadable"] as? [String: Any])?["line"] as? Int == 2)
        #expect((objects[2]["left"] as? [String: Any])?["what"] as? String == "#selector")
        #expect((objects[3]["summary"] as? [String: Any])?["left"] as? Int == 1)
        let failed = tree.run("--json")
        #expect(failed.errors.hasPrefix(#"{"error":{"exit":1,"message":"DIR is not in a git"#))
    }

    @Test("a path that leads nowhere is an error, and so is no path")
    func badPaths() throws {
        var errors = ""
        let console = PortConsole(output: { _ in }, errors: { errors += $0 })
        #expect(PortCommand.run(["/no/such/folder"], console) == 1)
        #expect(errors == "cairn-port: /no/such/folder: there is no such file or folder\n")
        #expect(PortCommand.run([], console) == 2)
        #expect(PortCommand.run(["."] + ["--colour"], console) == 2)
        #expect(PortCommand.run(["--json"], console) == 2)
        #expect(errors.contains(#"{"error":{"exit":2,"#))
    }

    @Test("the examples in the help are command lines that make sense")
    func help() throws {
        let lines = PortCommand.configuration.discussion.split(separator: "\n")
            .drop { $0 != "Examples:" }.dropFirst()
        #expect(lines.count > 2)
        for line in lines {
            let words = line.split(separator: " ").map(String.init)
            #expect(words.first == "cairn-port")
            #expect(throws: Never.self) { _ = try PortCommand.parse(Array(words.dropFirst())) }
        }
        var output = ""
        let console = PortConsole(output: { output += $0 }, errors: { _ in })
        #expect(PortCommand.run(["--help"], console) == 0)
        #expect(output.contains("--linux-only"))
    }
}
