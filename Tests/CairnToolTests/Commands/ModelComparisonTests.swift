// cairn model OLD --to NEW, and the hashes of versions.

import CairnModel
import CairnTestSupport
import Foundation
import Testing

@testable import CairnTool

@Suite("cairn model --to")
struct ModelComparisonTests {
    /// Writes a model as JSON and gives its path.
    private func write(_ name: String, _ model: ManagedObjectModel, in work: borrowing Workplace)
        throws -> String
    {
        try work.list("\(name).json", try model.json())
    }

    private static let old = ManagedObjectModel(entities: [
        EntityDescription(
            "Product", attributes: [.init("code", .string), .init("price", .float)])
    ])

    @Test("each change is a line, and the last line says what it comes to")
    func text() throws {
        let work = try Workplace()
        var new = Self.old
        new.entities[0].uniquenessConstraints = [["code"]]
        new.entities[0].attributes[1].type = .double
        let run = cairn(
            "model", try write("1", Self.old, in: work), "--to", try write("2", new, in: work))
        #expect(run.code == 0, "\(run.errors)")
        #expect(
            run.lines.map { $0.split(separator: " ").joined(separator: " ") }.filter {
                !$0.hasPrefix("─")
            } == [
                "where what inferable cost",
                "Product.price attribute changed from float to double; Core Data may want a mapping yes metadata only",
                "Product(code) constraint added (no two objects may have the same (code)) if no duplicates one pass over a key",
                "", "2 changes: can be inferred if there are no duplicates of Product(code)",
            ])
        let same = cairn(
            "model", try write("1", Self.old, in: work), "--to", try write("1", Self.old, in: work))
        #expect(same.lines == ["no changes: no difference requires a migration"])
    }

    @Test("a model that needs a mapping is no failure, and JSON says all of it")
    func json() throws {
        let work = try Workplace()
        var new = Self.old
        new.entities[0].attributes[0].type = .uuid
        let run = cairn(
            "model", try write("1", Self.old, in: work), "--to", try write("2", new, in: work),
            "--json")
        #expect(run.code == 0, "\(run.errors)")
        let (change, end) = (try run.json[0], try run.json[1])
        #expect(change["place"] as? String == "Product.code")
        #expect(change["inferable"] as? String == "no" && change["cost"] as? String == "a mapping")
        #expect((change["reason"] as? String)?.contains("uuid") == true)
        #expect(end["conclusion"] as? String == "needs a mapping for Product.code")
        #expect(end["inferable"] as? String == "no" && end["sameVersion"] as? Bool == false)
        #expect(Int(end, "changes") == 1)
    }

    @Test("versions of one file, and a store, are compared as well")
    func versionsAndStores() throws {
        let work = try Workplace()
        let folder = work.folder.url("Shop.xcdatamodeld")
        for (name, attribute) in [("Shop", "code"), ("Shop 2", "number")] {
            let inner = folder.appendingPathComponent("\(name).xcdatamodel")
            try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
            try Data(
                """
                <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
                <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                    <entity name="Thing" representedClassName="Thing">
                        <attribute name="\(attribute)" optional="YES" attributeType="String" elementID="code"/>
                    </entity>
                </model>
                """.utf8
            ).write(to: inner.appendingPathComponent("contents"))
        }
        let versions = cairn(
            "model", folder.path, "--version", "Shop", "--to-version", "Shop 2")
        #expect(versions.code == 0, "\(versions.errors)")
        #expect(versions.lines.last == "1 change: can be inferred: metadata only")
        #expect(versions.output.contains("renamed from code"))
        let made = try work.importing("1.json", #"[{"code":"a"}]"#)
        #expect(made.code == 0, "\(made.errors)")
        let store = cairn("model", work.store, "--to", folder.path, "--to-version", "Shop 2")
        #expect(store.code == 0 && store.output.contains("Thing(code)"), "\(store.output)")
        let hashes = cairn("schema", work.store, "--hashes")
        #expect(hashes.lines.last?.hasPrefix("checksum ") == true)
        #expect(hashes.output == cairn("model", work.store, "--hashes").output)
        let json = try cairn("model", work.store, "--hashes", "--json").json
        #expect(json[0]["entity"] as? String == "Thing")
        #expect((json[0]["hash"] as? String)?.count == 64 && json[1]["checksum"] != nil)
    }

    @Test("what cannot be compared is said")
    func errors() throws {
        let work = try Workplace()
        let model = try write("1", Self.old, in: work)
        let nothing = cairn("model", model, "--to", work.folder.path("none.json"))
        #expect(nothing.code == 1 && nothing.errors.contains("none.json"), "\(nothing.errors)")
        let broken = cairn("model", model, "--to", try work.list("broken.json", "{"))
        #expect(broken.code == 1 && broken.errors.contains("broken.json"))
        #expect(cairn("model", model, "--to", model, "--to-version", "2").code == 2)
        #expect(cairn("model", model, "--to", model, "--swift").code == 2)
        #expect(cairn("model", model, "--to", model, "--hashes").code == 2)
        #expect(cairn("schema", model, "--hashes", "--entity", "Product").code == 2)
    }
}
