// Constraints with options in the output of commands.

import Foundation
import Testing

@testable import CairnTool

@Suite("Constraints with options, printed")
struct UniqueOptionsTests {
    @Test("schema, model and info show the options; model --swift writes them")
    func output() throws {
        let work = try Workplace()
        let store = try golden("constraints", in: work)
        let schema = cairn("schema", store)
        let words = schema.lines.map { $0.split(separator: " ").joined(separator: " ") }
        for line in [
            "unique code",
            "unique name where closed == NULL AND NOT rank IN {7, 8}, without regard to case and accents",
            "unique rank, name where country != NULL, nil is a value",
            "unique name, rank without regard to case", "unique pads where pads > 4",
        ] { #expect(words.contains(line), "\(line) in \(words)") }
        #expect(schema.output == cairn("model", store).output)
        let info = cairn("info", store)
        #expect(info.output.contains("code; name (with options); rank,name (with options)"))
        let swift = cairn("model", store, "--swift")
        #expect(swift.code == 0 && swift.errors.isEmpty, "\(swift.errors)")
        let text = swift.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        for part in [
            #"#Unique<Airport>([\.code])"#,
            #"where: "closed == NULL AND NOT rank IN {7, 8}", caseInsensitive: true, diacriticInsensitive: true"#,
            #"[\.rank, \.name], where: "country != NULL", nilsAreEqual: true"#,
        ] { #expect(text.contains(part), "\(part) in \(text)") }
        let json = try cairn("schema", store, "--json").json[0]
        let entities = try #require(json["entities"] as? [[String: Any]])
        #expect((entities[0]["uniquenessRules"] as? [Any])?.count == 3)
    }
}
