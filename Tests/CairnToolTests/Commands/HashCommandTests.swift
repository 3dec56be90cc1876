// cairn hash: the same for the same content, whatever happened to the files.

import CairnModel
import CairnTestSupport
import Testing

@testable import CairnTool

@Suite("cairn hash")
struct HashCommandTests {
    private func filled(_ count: Int = 3000) throws -> Workplace {
        let work = try Workplace()
        let items = (0..<count).map { "{\"code\":\"c\($0)\",\"size\":\($0)}" }
        try work.importing("1.json", "[\(items.joined(separator: ","))]")
        return work
    }

    @Test("the hash is SHA-256 of the export's lines about objects")
    func export() throws {
        let work = try filled()
        let export = cairn("export", work.store).output
        let lines = export.drop { $0 != "\n" }.dropFirst()
        var hash = SHA256()
        Array(lines.utf8).withUnsafeBytes { hash.add($0) }
        #expect(cairn("hash", work.store).output == hash.hexadecimal() + "\n")
    }

    @Test(
        "compaction, a backup and an import of the same list leave it as it is; a change does not")
    func same() throws {
        let work = try filled(20_000)
        #expect(cairn("delete", work.store, "Thing", "--where", "size >= 2000").code == 0)
        let hash = cairn("hash", work.store).output
        #expect(cairn("compact", work.store).output.contains(" rewritten"))
        #expect(cairn("hash", work.store).output == hash)
        let copy = work.folder.path("copy.cairn")
        #expect(cairn("backup", work.store, copy).code == 0)
        #expect(cairn("hash", copy).output == hash)
        try work.importing("2.json", #"[{"code":"c1","size":1}]"#)
        #expect(cairn("hash", work.store).output == hash)
        try work.importing("3.json", #"[{"code":"c1","size":2}]"#)
        #expect(cairn("hash", work.store).output != hash)
        #expect(cairn("hash", copy).output == hash)
    }

    @Test("the hash of an entity is about its objects and their kinds alone")
    func entity() throws {
        let work = try Workplace()
        let store = try golden("everything", in: work)
        let all = try cairn("hash", store, "--json").json[0]
        let airports = try cairn("hash", store, "--entity", "Airport", "--json").json[0]
        let countries = try cairn("hash", store, "--entity", "Country", "--json").json[0]
        #expect(airports["sha256"] as? String != countries["sha256"] as? String)
        let count = cairn("count", store, "Airport").output
        #expect(Int(airports, "lines").map { "\($0)\n" } == count)
        #expect(try #require(Int(all, "lines")) > (Int(airports, "lines") ?? 0))
        #expect(countries["entity"] as? String == "Country")
        #expect(cairn("hash", store, "--entity", "Nope").code == 1)
    }

    @Test("a damaged store has no hash")
    func damaged() throws {
        let work = try Workplace()
        let failed = cairn("hash", try golden("everything.broken", in: work))
        #expect(failed.code == 3 && failed.output.isEmpty)
    }

    @Test(
        "SHA-256 gives what its definition says, however the bytes come",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                String(repeating: "a", count: 100_000),
                "6d1cf22d7cc09b085dfc25ee1a1f3ae0265804c607bc2074ad253bcc82fd81ee"
            ),
        ])
    func vectors(_ text: String, _ expected: String) {
        for portion in [1, 63, 64, 65, 1000] {
            var hash = SHA256()
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                rest.prefix(portion).withUnsafeBytes { hash.add($0) }
                rest = rest.dropFirst(portion)
            }
            #expect(hash.hexadecimal() == expected)
        }
    }
}
