// Pages of listings, compared with plain queries.

import CairnTestSupport
import Foundation
import Testing

@testable import CairnTool

@Suite("The studio's listings", .ahead)
struct StudioRowsTests {
    private struct Listing {
        var condition: String?
        var sort: String?
        var at: String?

        var parameters: [(String, String)] {
            [("where", condition), ("sort", sort), ("at", at)].compactMap { name, value in
                value.map { (name, $0) }
            }
        }

        var options: [String] { parameters.flatMap { ["--\($0.0)", $0.1] } }
    }

    private func page(
        _ client: StudioClient, _ listing: Listing, from: Int, count: Int, columns: String? = nil
    ) async throws -> [String: Any] {
        let parameters =
            [("entity", "Thing"), ("from", "\(from)"), ("count", "\(count)")] + listing.parameters
            + (columns.map { [("columns", $0)] } ?? [])
        let response = try await client.send("GET", StudioClient.target("rows", parameters))
        #expect(response.status == 200, "\(response.text)")
        return try response.json
    }

    @Test("Any page of any listing is what a query gives")
    func pages() async throws {
        let place = try StudioPlace()
        try place.fillThings(6000)
        try place.cairn("past", "STORE", "--keep", "all")
        try place.cairn(
            "import", "STORE", "--entity", "Thing",
            try place.file("m.csv", "code,name,size\nc1,zz,1\nc5999,aa,2\nd,name 3,3\n"))
        let listings = [
            Listing(), Listing(sort: "-name"), Listing(sort: "name,-size"),
            Listing(condition: "size > 5000"), Listing(condition: "size > 5000", sort: "size"),
            Listing(condition: "name == 'name 3'", sort: "-code"), Listing(sort: "size", at: "3"),
            Listing(condition: "code == 'nothing'"),
        ]
        var random = RandomSource()
        var places: [(Listing, Int, Int)] = []
        for listing in listings {
            for _ in 0..<4 {
                places.append(
                    (
                        listing, Int.random(in: 0..<6500, using: &random),
                        Int.random(in: 0..<200, using: &random)
                    )
                )
            }
            places.append((listing, 0, 100))
            places.append((listing, 5950, 1000))
        }
        places.shuffle(using: &random)
        let asked = places
        try await place.studio { client in
            for (listing, from, count) in asked {
                let page = try await page(client, listing, from: from, count: count)
                let printed = try place.run(
                    [
                        "query", "STORE", "Thing", "--json", "--offset", "\(from)", "--limit",
                        "\(count)",
                    ]
                        + listing.options)
                let rows = try printed.split(separator: "\n").map {
                    try JSONSerialization.jsonObject(with: Data($0.utf8))
                }
                #expect(
                    (page["rows"] as? NSArray) == (rows as NSArray), "\(listing) \(from) \(count)")
                #expect((page["versions"] as? [Any])?.count == rows.count)
                #expect(page["from"] as? Int == from)
                if let total = page["total"] as? Int {
                    let counted = try place.run(
                        ["query", "STORE", "Thing", "--json", "--columns", "objectID"]
                            + listing.options)
                    #expect(total == counted.split(separator: "\n").count)
                } else {
                    #expect(from + count <= StudioRows.deepest)
                }
            }
        }
    }

    @Test("How many there are is known in the end, and after a commit it is found anew")
    func totals() async throws {
        let place = try StudioPlace()
        try place.fillThings(3000)
        try await place.studio { client in
            let listing = Listing(condition: "size >= 0", sort: "size")
            var page = try await page(client, listing, from: 0, count: 10)
            #expect(page["total"] == nil)
            // So deep a page waits for the listing, which was begun by the first.
            _ = try await self.page(client, listing, from: StudioRows.deepest, count: 10)
            page = try await self.page(client, listing, from: 0, count: 10)
            #expect(page["total"] as? Int == 3000)
            try place.cairn(
                "import", "STORE", "--entity", "Thing",
                try place.file("m.csv", "code,name,size\nnew,new,0\n"))
            let after = try await self.page(client, listing, from: 2999, count: 10)
            #expect(after["total"] as? Int == 3001)
            #expect((after["rows"] as? [Any])?.count == 2)
        }
    }

    @Test("Columns are those that are asked for, with the version of each row beside them")
    func columns() async throws {
        let place = try StudioPlace()
        try place.fillThings(10)
        try place.cairn(
            "import", "STORE", "--entity", "Thing",
            try place.file("m.csv", "code,name,size\nc1,new,0\n"))
        try await place.studio { client in
            let page = try await page(
                client, Listing(), from: 0, count: 3, columns: "size,objectID")
            let rows = try #require(page["rows"] as? [[String: Any]])
            #expect(rows.map(\.count) == [2, 2, 2])
            #expect(rows.map { $0["objectID"] as? String } == ["p1", "p2", "p3"])
            #expect(page["versions"] as? [Int] == [1, 2, 1])
        }
    }
}
