// Values and object ids: equality by bits, hashing, JSON and URIs.

import CairnModel
import CairnTestSupport
import Foundation
import Testing

@Suite("Values and object ids")
struct ValueTests {
    private static let samples: [Value] = [
        .null, .integer(0), .integer(.min), .decimal(0), .decimal(Decimal(string: "0.1") ?? 0),
        .double(0), .double(-0.0), .double(.nan), .double(.infinity), .float(0), .float(-0.0),
        .float(.nan), .string(""), .string("é"), .string("e\u{301}"), .boolean(false),
        .boolean(true), .date(Date(timeIntervalSinceReferenceDate: 0.1)), .binary(Data()),
        .binary(Data([0])), .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7))),
        .uri(URL(filePath: "/a")),
        .objectID(
            ObjectID(
                store: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7)), hierarchy: 1,
                reference: 2)),
    ]

    @Test("Each of these values is equal to itself and to no other")
    func equality() {
        for (i, one) in Self.samples.enumerated() {
            for (j, other) in Self.samples.enumerated() {
                #expect((one == other) == (i == j), "\(one) and \(other)")
                if one == other { #expect(one.hashValue == other.hashValue) }
            }
        }
    }

    @Test("A date has a text that is read as the same date, however near to 2001 it is")
    func datesNearTheReference() throws {
        for seconds in [
            0, 1.2345678901234567e-7, -1.2345678901234567e-7, 1.5e-22, 7e8 + 0.1, 3e-30, -1e-40,
        ] {
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            let node = PredicateNode.compare("at", .equal, .date(date))
            #expect(try PredicateNode(format: node.predicateFormat) == node, "\(node)")
        }
    }

    @Test("All NaNs are one value")
    func nan() {
        let other = Double(bitPattern: 0x7FF8_0000_0000_0001)
        #expect(Value.double(.nan) == .double(other))
        #expect(Value.double(.nan).hashValue == Value.double(other).hashValue)
        #expect(Value.float(.nan) == .float(Float(bitPattern: 0x7FC0_0001)))
    }

    @Test("Every value is the same after JSON")
    func json() throws {
        let copy = try JSONDecoder().decode(
            [Value].self, from: JSONEncoder().encode(Self.samples))
        #expect(copy == Self.samples)
    }

    @Test("Values of one type have an order, others have none")
    func order() {
        #expect(Value.integer(1).compare(to: .integer(2)) == .ascending)
        #expect(Value.double(0).compare(to: .double(-0.0)) == .same)
        #expect(Value.double(.nan).compare(to: .double(1)) == nil)
        #expect(Value.string("b").compare(to: .string("a")) == .descending)
        #expect(Value.string("Z").compare(to: .string("a")) == .ascending)
        #expect(Value.integer(1).compare(to: .double(1)) == nil)
        #expect(Value.boolean(false).compare(to: .boolean(true)) == nil)
        #expect(Value.null.compare(to: .null) == nil)
    }

    @Test("An object id is the same after its URI and JSON", arguments: [true, false])
    func objectID(_ isTemporary: Bool) throws {
        let store = UUID()
        let id =
            isTemporary
            ? ObjectID(temporary: .max, hierarchy: .max, context: store)
            : ObjectID(store: store, hierarchy: 3, reference: 12)
        #expect(ObjectID(uriRepresentation: id.uriRepresentation) == id)
        #expect(try JSONDecoder().decode(ObjectID.self, from: JSONEncoder().encode(id)) == id)
        #expect(id.isTemporary == isTemporary)
    }

    @Test("Ids differ by store, hierarchy, reference and permanence")
    func objectIDEquality() {
        let store = UUID()
        let id = ObjectID(store: store, hierarchy: 1, reference: 2)
        #expect(id == ObjectID(store: store, hierarchy: 1, reference: 2))
        #expect(id != ObjectID(store: UUID(), hierarchy: 1, reference: 2))
        #expect(id != ObjectID(store: store, hierarchy: 2, reference: 2))
        #expect(id != ObjectID(store: store, hierarchy: 1, reference: 3))
        #expect(id != ObjectID(temporary: 2, hierarchy: 1, context: store))
    }

    @Test(
        "What is no object id's URI is refused",
        arguments: [
            "x-coredata://A/B/p1", "x-cairn://A/h1/p1", "x-cairn://", "http://example.com",
            "x-cairn://00000000-0000-0000-0000-000000000000/h1/q1",
            "x-cairn://00000000-0000-0000-0000-000000000000/h1/p",
            "x-cairn://00000000-0000-0000-0000-000000000000/h4294967296/p1",
            "x-cairn://00000000-0000-0000-0000-000000000000/h1/p18446744073709551616",
            "x-cairn://00000000-0000-0000-0000-000000000000/h1/p4294967296",
            "x-cairn://00000000-0000-0000-0000-000000000000/h1/p1/x",
            "x-cairn://00000000-0000-0000-0000-000000000000/h-1/p1",
        ])
    func badURIs(_ text: String) throws {
        #expect(ObjectID(uriRepresentation: try #require(URL(string: text))) == nil)
    }

    @Test("Whether a value fits a type depends on kind and range")
    func fits() {
        #expect(Value.integer(32767).fits(.integer16))
        #expect(!Value.integer(32768).fits(.integer16))
        #expect(!Value.integer(1 << 31).fits(.integer32))
        #expect(Value.integer(.max).fits(.integer64))
        #expect(!Value.double(1).fits(.float))
        #expect(Value.binary(Data()).fits(.transformable))
        #expect(!Value.null.fits(.string))
    }

    @Test("A decimal's text is read with all digits, or not at all")
    func decimals() {
        #expect(Decimal(exactText: "1.50") == Decimal(string: "1.5"))
        #expect(Decimal(exactText: "-0.000") == 0)
        #expect(Decimal(exactText: "1e127") != nil)
        #expect(Decimal(exactText: "1e164") != nil)
        #expect(Decimal(exactText: "1e165") == nil)
        #expect(Decimal(exactText: "1e-128") != nil)
        #expect(Decimal(exactText: "1e-129") == nil)
        #expect(Decimal(exactText: "1e999999999999") == nil)
        for text in ["", "-", ".", "e5", "1e", "1.2.3", "12abc", " 1", "1 ", "0x10", "NaN", "--1"] {
            #expect(Decimal(exactText: text) == nil, "\(text)")
        }
        let largest = "340282366920938463463374607431768211455"
        #expect(Decimal(exactText: largest).map { "\($0)" } == largest)
        #expect(Decimal(exactText: "340282366920938463463374607431768211456") == nil)
        let digits = String(repeating: "9", count: 38)
        #expect(Decimal(exactText: digits).map { "\($0)" } == digits)
        #expect(Decimal(exactText: digits + "9") == nil)
    }

    @Test("Moments come back from their text bit by bit")
    func dates() {
        var random = RandomSource()
        for _ in 0..<2000 {
            let scale = pow(10, Double.random(in: 0...10.5, using: &random))
            let seconds = Double.random(in: -1...1, using: &random) * scale
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            let text = date.isoText
            #expect(text.flatMap { Date(isoText: $0) } == date, "\(text ?? "nil")")
        }
        #expect(Date(timeIntervalSinceReferenceDate: 0).isoText == "2001-01-01T00:00:00Z")
        #expect(Date(timeIntervalSinceReferenceDate: -0.5).isoText == "2000-12-31T23:59:59.5Z")
        #expect(Date(timeIntervalSinceReferenceDate: 1e15).isoText == nil)
        #expect(Date(timeIntervalSinceReferenceDate: .nan).isoText == nil)
    }

    @Test("Every moment comes back from its exact text, also one that ISO 8601 has no form for")
    func exactDates() {
        var random = RandomSource()
        let edges = [-0.0, 0, 1e-30, -1e-30, 4e11, -1e12, 1e300, .leastNonzeroMagnitude]
        let others = (0..<2000).map { _ in Double(bitPattern: random.next()) }
        for seconds in edges + others where seconds.isFinite {
            let text = Date(timeIntervalSinceReferenceDate: seconds).exactText
            let back = Date(exactText: text)?.timeIntervalSinceReferenceDate
            #expect(back?.bitPattern == seconds.bitPattern, "\(text)")
        }
        for text in ["nan s since 2001", "s since 2001", " s since 2001", "1 s since 1970", "5"] {
            #expect(Date(exactText: text) == nil)
        }
    }

    @Test(
        "What is no date is refused",
        arguments: [
            "", "2024", "2024-1-1", "2024-13-01", "2024-00-01", "2023-02-29", "2024-01-32",
            "2024-01-01T", "2024-01-01T24:00", "2024-01-01T00:60", "2024-01-01T00:00:60",
            "2024-01-01T00:00:00.", "2024-01-01T00:00:00X", "2024-01-01T00:00:00Z ", "0000-01-01",
            "2024-01-01T00:00:00+1", "01/02/2024",
        ])
    func badDates(_ text: String) {
        #expect(Date(isoText: text) == nil)
    }
}
