// Constraints with options in a schema frame.

import CairnFormat
import Testing

@Suite("Constraints with options in the schema")
struct SchemaRuleTests {
    private func check(_ names: [String], ignoresCase: Bool = false) throws {
        let properties = [
            SchemaDocumentProperty(id: 1, name: "code", kind: .string, optional: true),
            SchemaDocumentProperty(id: 2, name: "rank", kind: .integer16, optional: true),
        ]
        let rule = SchemaDocumentRule(
            names: names, where: "rank > 1", nilsAreEqual: true, ignoresCase: ignoresCase,
            ignoresDiacritics: false)
        try SchemaDocument(
            version: 1,
            entities: [
                SchemaDocumentEntity(
                    id: 1, name: "Item", tree: 1, properties: properties, rules: [rule])
            ], relationships: [], model: IgnoredModel()
        ).check()
    }

    @Test("F-712, F-713: they name properties, and who folds texts has one")
    func rules() throws {
        try check(["code", "rank"], ignoresCase: true)
        try check(["rank"])
        for (names, ignoresCase, rule) in [
            (["none"], false, "F-712"), ([], false, "F-712"), (["rank"], true, "F-713"),
        ] {
            let error = #expect(throws: FormatError.self) {
                try check(names, ignoresCase: ignoresCase)
            }
            #expect(error?.rule == rule)
        }
    }

    @Test("F-715: the bit is known, and others are not")
    func flags() {
        #expect(FeatureFlags.constraintRules.allowsWriting)
        #expect(!FeatureFlags(readOnlyCompatible: 1 << 40).allowsWriting)
        #expect(FeatureFlags.constraintRules.incompatible == 0)
    }
}
