// Something random that is done to a store, in words that do not name any store's ids.

import CairnModel
import CairnStore
import CairnTestSupport
import Testing

/// What is done.
enum RandomOperation: Sendable {
    /// A new object, or several, which lead to others by what these are called.
    case insert([New], MergePolicyKind, assignedOnly: Bool)
    /// Other values of an item, which somebody else may have changed or deleted meanwhile.
    case update(String, [String: Value], meanwhile: Meanwhile, MergePolicyKind)
    /// An item or a person goes.
    case delete(String, String)
    /// A pair comes or goes.
    case pair(String, String, String, isAddition: Bool)
    /// Rows of items.
    case batch([[String: Value]], MergePolicyKind, setOnly: Bool)
    case batchUpdate(String, key: String, format: String)
    case batchDelete(String)

    struct New: Sendable {
        let entity: String
        var values: [String: Value]
        let owner: String?
        let whole: String?
        let tags: [String]
    }

    enum Meanwhile: Sendable {
        case nothing
        case update([String: Value])
        case delete
    }

    // MARK: Doing

    /// Does it; says what came of it.
    func run(_ subject: Subject) throws -> String {
        do {
            try perform(subject)
            return "done"
        } catch let error as StoreError {
            return "\(error.code)"
        }
    }

    private func perform(_ subject: Subject) throws {
        switch self {
        case .insert(let objects, let policy, let assignedOnly):
            var draft = try subject.draft()
            draft.request.mergesAssignedOnly = assignedOnly
            for object in objects {
                var values: [String: Any?] = object.values
                if let owner = object.owner { values["owner"] = try subject.find("Person", owner) }
                if let whole = object.whole { values["whole"] = try subject.find("Item", whole) }
                if !object.tags.isEmpty {
                    values["tags"] = try object.tags.compactMap { try subject.find("Tag", $0) }
                }
                try draft.insert(object.entity, values)
            }
            try subject.save(draft, policy)
        case .update(let code, let values, let meanwhile, let policy):
            guard let id = try subject.find("Item", code) else { return }
            var draft = try subject.draft()
            try draft.update(id, values)
            switch meanwhile {
            case .nothing: break
            case .update(let others): try subject.update("Item", code, others)
            case .delete: try subject.delete("Item", code)
            }
            try subject.save(draft, policy)
        case .delete(let entity, let name):
            guard try subject.find(entity, name) != nil else { return }
            try subject.delete(entity, name)
        case .pair(let code, let key, let member, let isAddition):
            guard let owner = try subject.find("Item", code),
                let member = try subject.find(key == "tags" ? "Tag" : "Item", member)
            else { return }
            try subject.save { try $0.pair(owner, key, member, isAddition: isAddition) }
        case .batch(let rows, let policy, let setOnly):
            try subject.batch("Item", rows.map { $0.mapValues(\.plain) }, policy) {
                $0.setOnly = setOnly
            }
        case .batchUpdate(let condition, let key, let format):
            try subject.batchUpdate("Item", condition, [key: .format(format)])
        case .batchDelete(let condition): try subject.batchDelete("Item", condition)
        }
    }

    // MARK: Making up

    static let people = ["p", "q", "r"]
    private static let codes = ["a", "b", "c", "d", "e", "f", "g", "h"]
    static let tags = ["red", "blue"]

    private static func values(_ random: inout RandomSource) -> [String: Value] {
        var values: [String: Value] = [:]
        func one(_ all: [Value]) -> Value { all.randomElement(using: &random) ?? .null }
        if random.oneIn(2) { values["note"] = one([.string("x"), .string("y"), .null]) }
        if random.oneIn(2) { values["amount"] = .integer(.random(in: 0...9, using: &random)) }
        if random.oneIn(3) {
            values["price"] = .double(.random(in: 0...4, using: &random).rounded())
        }
        if random.oneIn(3) { values["name"] = one([.string("Ä"), .string("a"), .null]) }
        if random.oneIn(4) {
            values["series"] = one([.string("s"), .string("t")])
            values["number"] = .integer(.random(in: 1...3, using: &random))
        }
        return values
    }

    private static func one(_ all: [String], _ random: inout RandomSource) -> String {
        all.randomElement(using: &random) ?? ""
    }

    private static func new(_ random: inout RandomSource) -> New {
        var values = values(&random)
        values["code"] = .string(one(codes, &random))
        return New(
            entity: random.oneIn(3) ? "Tool" : "Item", values: values,
            owner: random.oneIn(2) ? one(people, &random) : nil,
            whole: random.oneIn(3) ? one(codes, &random) : nil,
            tags: random.oneIn(3) ? tags : [])
    }

    static let conditions = [
        "amount > 4", "note == 'x'", "owner.name == 'p'", "ANY tags.label == 'red'",
        "whole != nil", "price != 2", "folded == 'a'", "parts.@count > 0", "series == 's'",
    ]

    static func random(_ random: inout RandomSource) -> RandomOperation {
        let policy = MergePolicyKind.allCases.randomElement(using: &random) ?? .error
        let condition = one(conditions, &random)
        switch Int.random(in: 0..<12, using: &random) {
        case 0...3:
            var objects = (0..<Int.random(in: 1...3, using: &random)).map { _ in new(&random) }
            if objects.count > 1 {
                // Where one object meets two others by two keys, and another one of the save would have freed one of these,
                // stores may refuse what the dictionary, which merges object by object, can do.
                for index in objects.indices {
                    for key in ["series", "number", "name"] { objects[index].values[key] = nil }
                }
            }
            return .insert(objects, policy, assignedOnly: random.oneIn(2))
        case 4...6:
            var changes = values(&random)
            if random.oneIn(4) { changes["code"] = .string(one(codes, &random)) }
            let meanwhile: Meanwhile =
                switch Int.random(in: 0..<4, using: &random) {
                case 0, 1: .nothing
                case 2: .update(["note": .string("z"), "amount": .integer(5)])
                default: .delete
                }
            return .update(one(codes, &random), changes, meanwhile: meanwhile, policy)
        case 7:
            return random.oneIn(5)
                ? .delete("Person", one(people, &random)) : .delete("Item", one(codes, &random))
        case 8:
            let isTag = random.oneIn(2)
            return .pair(
                one(codes, &random), isTag ? "tags" : "mates", one(isTag ? tags : codes, &random),
                isAddition: !random.oneIn(3))
        case 9:
            let rows = (0..<Int.random(in: 1...5, using: &random)).map { _ in
                values(&random).merging(["code": .string(one(codes, &random))]) { $1 }
            }
            return .batch(rows, policy, setOnly: random.oneIn(2))
        case 10:
            let (key, format) =
                [
                    ("amount", "amount + 1"), ("note", "uppercase:(name)"), ("price", "amount / 2"),
                    ("number", "number + 1"), ("note", "owner.name"),
                ].randomElement(using: &random) ?? ("note", "name")
            return .batchUpdate(condition, key: key, format: format)
        default: return .batchDelete(condition + " AND amount > 2")
        }
    }
}

extension Value {
    /// The value as a dictionary of a batch has it.
    fileprivate var plain: Any {
        switch self {
        case .string(let text): text
        case .integer(let number): number
        case .double(let number): number
        default: Any?.none as Any
        }
    }
}
