// cairn schema, on a store with relationships and inheritance.

import Foundation
import Testing

@testable import CairnTool

@Suite("cairn schema")
struct SchemaCommandTests {
    @Test("entities come with attributes, relationships, constraints and what they inherit from")
    func text() throws {
        let work = try Workplace()
        let store = try golden("everything", in: work)
        let run = cairn("schema", store)
        #expect(run.lines.first == "3 entities, 15 attributes, 3 relationships")
        for line in [
            "  attribute     code       string     required",
            "  relationship  country    → Country  inverse airports", "  unique        code",
            "entity Heliport : Airport",
        ] { #expect(run.lines.contains(line), "\(line)") }
        #expect(run.output == cairn("model", store).output)
    }

    @Test("one entity comes with those it inherits from")
    func entity() throws {
        let work = try Workplace()
        let store = try golden("everything", in: work)
        let run = cairn("schema", store, "--entity", "Heliport")
        #expect(run.output.contains("entity Airport") && run.output.contains("entity Heliport"))
        #expect(!run.output.contains("entity Country"))
        let json = try cairn("schema", store, "--entity", "Country", "--json").json[0]
        let names = (json["entities"] as? [[String: Any]])?.map { $0["name"] as? String }
        #expect(names == ["Country"])
        #expect(cairn("schema", store, "--entity", "Nope").code == 1)
    }

    @Test("indexes that are not kept are named, with the reason")
    func leftOut() throws {
        let work = try Workplace()
        let element = #"type="Binary" order="ascending"/>"#
        let model = try work.list(
            "contents",
            """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                <entity name="Thing" representedClassName="Thing">
                    <attribute name="code" optional="YES" attributeType="String"/>
                    <fetchIndex name="byLower">
                        <fetchIndexElement expression="lowercase:(code)" expressionType="string" \(element)
                    </fetchIndex>
                    <fetchIndex name="byCode"><fetchIndexElement property="code" \(element)</fetchIndex>
                    <fetchIndex name="again"><fetchIndexElement property="code" \(element)</fetchIndex>
                </entity>
            </model>
            """)
        let made = try work.importing("1.json", #"[{"code":"a"}]"#, "--model", model)
        #expect(made.code == 0, "\(made.errors)")
        let run = cairn("schema", work.store)
        #expect(
            run.lines.suffix(3) == [
                "index byLower of Thing is not kept: lowercase:(code) is an expression, but keys can only be stored values",
                "", "index again of Thing is not kept: it repeats byCode",
            ])
        #expect(cairn("schema", work.store, "--json").lines.count == 1)
    }

    @Test("what is no store is said to be none")
    func nothing() throws {
        let work = try Workplace()
        let failed = cairn("schema", work.store, "--json")
        #expect(failed.code == 1)
        #expect(try failed.error["path"] as? String == work.store)
    }
}
