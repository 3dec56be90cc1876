// The objects that questions are asked about. Items are called a to j, so that answers are short.
//
//        what is odd about it
//   a    nothing                       b    empty bytes, a number that no double has; part of a
//   c    mostly nil, an empty text     d    nil throughout
//   e    zeros with a minus; a Tool    f    not a number; a letter in two scalars; a Tool
//   g    infinite; a Vehicle           h    infinite below; a line break; a Vehicle
//   i    the greatest numbers          j    the least numbers

import CairnModel
import CairnStore
import FoundationEssentials

enum SampleObjects {
    static let composed = "Caf\u{E9}"
    static let decomposed = "Cafe\u{301}"

    static func date(_ seconds: Double) -> Date { Date(timeIntervalSinceReferenceDate: seconds) }

    /// A UUID with one byte that tells.
    static func uuid(_ last: UInt8) -> UUID {
        UUID(uuid: (0x7F, 0x80, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, last))
    }

    static func url(_ text: String) -> URL { URL(string: text) ?? URL(filePath: "/") }

    static func decimal(_ text: String) -> Decimal { Decimal(string: text) ?? .nan }

    /// What stands in columns, without references.
    static let items: [(entity: String, values: [String: any Sendable])] = [
        (
            "Item",
            [
                "code": "a", "name": "Anvil", "note": "heavy", "small": 1, "amount": 10,
                "large": 1, "price": 1.5, "ratio": 0.5, "cost": decimal("1.10"), "open": true,
                "since": date(0), "plan": Data([0, 255]), "mark": uuid(1),
                "link": url("https://a.example/x"), "shape": Data([1]),
                "size.width": 2.0, "size.height": 3.0, "series": "s", "number": 1,
            ]
        ),
        (
            "Item",
            [
                "code": "b", "name": "anvil", "small": 2, "amount": 20,
                "large": 9_007_199_254_740_993, "price": 2.5, "ratio": 1.5,
                "cost": decimal("2.25"), "open": false, "since": date(100.5), "plan": Data(),
                "mark": uuid(2), "link": url("https://b.example/"), "size.width": 2.0,
                "series": "s", "number": 2, "state": "used",
            ]
        ),
        (
            "Item",
            [
                "code": "c", "name": "Äther", "note": "", "small": -3,
                "large": 9_007_199_254_740_992, "series": "s",
            ]
        ),
        ("Item", ["code": "d"]),
        (
            "Tool",
            [
                "code": "e", "name": composed, "note": "50% off_", "small": 4, "amount": 0,
                "large": -1, "price": -0.0, "ratio": -0.0, "cost": 0, "open": true,
                "since": date(-1), "power": 7, "series": "t", "number": 1,
            ]
        ),
        (
            "Tool",
            [
                "code": "f", "name": decomposed, "note": "a*b?c", "small": 5, "amount": -5,
                "large": 3, "price": Double.nan, "ratio": Float.nan,
                "cost": decimal("100000000000000000000.5"), "open": false, "since": date(1e9),
            ]
        ),
        (
            "Vehicle",
            [
                "code": "g", "name": "straße", "note": "heavy metal", "small": 6, "amount": 7,
                "large": 4, "price": Double.infinity, "ratio": 2.25, "seats": 4,
            ]
        ),
        (
            "Vehicle",
            [
                "code": "h", "name": "STRASSE", "note": "light\nline", "small": 7, "amount": 7,
                "large": 5, "price": -Double.infinity,
            ]
        ),
        (
            "Item",
            [
                "code": "i", "name": "日本", "note": "🙂 smile", "small": Int16.max,
                "amount": Int32.max, "large": Int64.max, "price": 0.1, "ratio": Float(0.1),
                "cost": decimal("0.1"),
            ]
        ),
        (
            "Item",
            [
                "code": "j", "name": "Z", "note": " ", "small": Int16.min, "amount": Int32.min,
                "large": Int64.min, "price": 0.30000000000000004,
            ]
        ),
    ]

    static let people: [[String: any Sendable]] = [
        ["name": "Ada", "city": "Bern", "age": 40], ["name": "Bob", "city": "Ulm"],
        ["name": "Cyd", "age": 20], ["name": "Dot", "city": "Bern", "age": 30],
    ]
}

extension Subject {
    /// Saves the objects, and what leads from one to another:
    ///
    ///     Ada < Bob < Cyd (boss)   desk 1: Ada   red: a b g   blue: a e g   old: g h
    ///     Ada: a e   Bob: b h   Cyd: f   b, c parts of a, g of b   mates a-b e-f   rivals c→a a→e   fans of e: Ada Bob
    func insertSample() throws {
        var draft = try draft()
        var people: [String: ObjectID] = [:]
        for (place, values) in SampleObjects.people.enumerated() {
            var values: [String: Any?] = values
            if place == 1 { values["boss"] = people["Ada"] }
            if place == 2 { values["boss"] = people["Bob"] }
            people[values["name"] as? String ?? ""] = try draft.insert("Person", values)
        }
        try draft.insert("Desk", ["number": 1, "person": people["Ada"]])
        try draft.insert("Desk", ["number": 2])
        var tags: [String: ObjectID] = [:]
        for label in ["red", "blue", "old"] {
            tags[label] = try draft.insert(
                "Tag", ["label": label, "hue": label == "old" ? nil : label])
        }
        let owners = ["a": "Ada", "b": "Bob", "e": "Ada", "f": "Cyd", "h": "Bob"]
        let labels = ["a": ["red", "blue"], "b": ["red"], "e": ["blue"], "h": ["old"]]
        let wholes = ["b": "a", "c": "a", "g": "b"]
        var items: [String: ObjectID] = [:]
        for (entity, values) in SampleObjects.items {
            var values: [String: Any?] = values
            let code = values["code"] as? String ?? ""
            if let owner = owners[code] { values["owner"] = people[owner] }
            if let whole = wholes[code] { values["whole"] = items[whole] }
            if code == "c" { values["rival"] = items["a"] }
            if let labels = labels[code] { values["tags"] = labels.compactMap { tags[$0] } }
            if code == "g" { values["tags"] = ["red", "blue", "old"].compactMap { tags[$0] } }
            if code == "e" { values["fans"] = ["Ada", "Bob"].compactMap { people[$0] } }
            items[code] = try draft.insert(entity, values)
        }
        for (one, other) in [("a", "b"), ("e", "f")] {
            guard let one = items[one], let other = items[other] else { continue }
            try draft.pair(one, "mates", other)
        }
        try save(draft)
        let e = try id("Item", "e")
        try update("Item", "a", ["rival": e])
    }
}
