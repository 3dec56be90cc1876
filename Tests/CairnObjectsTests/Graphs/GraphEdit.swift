// One edit of a graph, by the numbers of its objects: the same for a context and for the plain graph.

import CairnModel
import CairnObjects
import CairnTestSupport
import Testing

enum GraphEdit {
    case insertPerson(Int)
    case insertDepartment(Int)
    case insertSign(Int)
    case nick(Int, Int?)
    case spouse(Int, Int?)
    case friends(Int, Set<Int>)
    case addFriend(Int, Int)
    case removeFriend(Int, Int)
    case mentor(Int, Int?)
    case heroes(Int, Set<Int>)
    case parent(Int, Int?)
    case children(Int, Set<Int>)
    case department(Int, Int?)
    case employees(Int, Set<Int>)
    case sign(Int, Int?)
    case list(Int, [Int])
    case line(Int, [Int])
    case holder(Int, Int?)
    case deletePerson(Int)
    /// To a department that was never stored nobody can keep belonging.
    case deleteDepartment(Int, isStored: Bool)
    case deleteSign(Int)

    /// A random edit of what a graph has.
    ///
    /// - Parameter stored: what is stored of it.
    init(
        _ graph: PlainGraph, stored: PlainGraph, _ next: inout Int, _ random: inout RandomSource
    ) {
        func one(_ numbers: some Collection<Int>, _ random: inout RandomSource) -> Int? {
            numbers.sorted().randomElement(using: &random)
        }
        func orNil(_ number: Int?, _ random: inout RandomSource) -> Int? {
            random.oneIn(4) ? nil : number
        }
        let people = graph.people.keys.sorted()
        // The more there are, the fewer come.
        let isFull = people.count > 24
        guard let id = one(people, &random), let other = one(people, &random),
            !random.oneIn(isFull ? 40 : 4)
        else {
            next += 1
            switch Int.random(in: 0..<6, using: &random) {
            case 0: self = .insertDepartment(next)
            case 1: self = .insertSign(next)
            default: self = .insertPerson(next)
            }
            return
        }
        func some(_ random: inout RandomSource) -> Set<Int> {
            let share = Int.random(in: 2...8, using: &random)
            return Set(people.filter { _ in random.oneIn(share) })
        }
        let department = one(graph.departments, &random)
        let signs = graph.signs.keys.sorted()
        switch Int.random(in: 0..<36, using: &random) {
        case 30, 31:
            // Mostly a member is moved, or comes.
            var list = graph.people[id]?.list ?? []
            if random.oneIn(4) { list = some(&random).sorted().shuffled(using: &random) }
            list.removeAll { $0 == other }
            list.insert(other, at: Int.random(in: 0...list.count, using: &random))
            self = .list(id, list)
        case 32, 33:
            var line = graph.people[id]?.line ?? []
            guard let sign = one(signs, &random) else { fallthrough }
            line.removeAll { $0 == sign }
            line.insert(sign, at: Int.random(in: 0...line.count, using: &random))
            self = .line(id, line)
        case 34:
            guard let sign = one(signs, &random) else { fallthrough }
            self = .holder(sign, orNil(other, &random))
        case 0, 1, 2: self = .nick(id, orNil(Int.random(in: 0..<9, using: &random), &random))
        case 3, 4: self = .spouse(id, orNil(other, &random))
        case 5, 6: self = .friends(id, some(&random))
        case 7, 8: self = .addFriend(id, other)
        case 9: self = .removeFriend(id, other)
        case 10, 11: self = .mentor(id, orNil(other, &random))
        case 12, 13: self = .heroes(id, some(&random))
        case 14, 15, 16: self = .parent(id, orNil(other, &random))
        case 17: self = .children(id, some(&random))
        case 18, 19: self = .department(id, orNil(department, &random))
        case 20:
            guard let department else { fallthrough }
            self = .employees(department, some(&random))
        case 21, 22:
            guard let sign = one(graph.signs.keys, &random) else { fallthrough }
            self = .sign(sign, orNil(department, &random))
        case 23:
            guard let sign = one(graph.signs.keys, &random) else { fallthrough }
            self = .deleteSign(sign)
        case 24:
            guard let department else { fallthrough }
            self = .deleteDepartment(
                department, isStored: stored.departments.contains(department))
        case 25, 26: self = .deletePerson(id)
        default:
            self = isFull ? .deletePerson(id) : .nick(id, Int.random(in: 0..<9, using: &random))
        }
    }

    /// Does it to the objects of a context.
    func apply(to context: ManagedObjectContext) throws {
        func object(_ entity: String, _ number: Int) throws -> ManagedObject {
            try #require(
                try context.find(entity, "number", .integer(Int64(number))).first,
                "\(entity) \(number)")
        }
        func person(_ number: Int) throws -> ManagedObject { try object("Person", number) }
        func people(_ numbers: Set<Int>) throws -> Set<ManagedObject> {
            Set(try numbers.sorted().map(person))
        }
        func department(_ number: Int?) throws -> ManagedObject? {
            try number.map { try object("Department", $0) }
        }
        switch self {
        case .insertPerson(let id): context.make("Person", ["number": id])
        case .insertDepartment(let id): context.make("Department", ["number": id])
        case .insertSign(let id): context.make("Sign", ["number": id])
        case .nick(let id, let nick): try person(id)["nick"] = nick
        case .spouse(let id, let other): try person(id)["spouse"] = try other.map(person)
        case .friends(let id, let friends): try person(id)["friends"] = try people(friends)
        case .addFriend(let id, let other):
            try person(id).mutableSetValue(forKey: "friends").insert(person(other))
        case .removeFriend(let id, let other):
            try person(id).mutableSetValue(forKey: "friends").remove(person(other))
        case .mentor(let id, let other): try person(id)["mentor"] = try other.map(person)
        case .heroes(let id, let heroes): try person(id)["heroes"] = try people(heroes)
        case .parent(let id, let other): try person(id)["parent"] = try other.map(person)
        case .children(let id, let children): try person(id)["children"] = try people(children)
        case .department(let id, let number):
            try person(id)["department"] = try department(number)
        case .employees(let id, let employees):
            try object("Department", id)["employees"] = try people(employees)
        case .sign(let id, let number):
            try object("Sign", id)["department"] = try department(number)
        case .list(let id, let list): try person(id)["list"] = try list.map(person)
        case .line(let id, let line):
            try person(id)["line"] = try line.map { try object("Sign", $0) }
        case .holder(let sign, let holder):
            try object("Sign", sign)["holder"] = try holder.map(person)
        case .deletePerson(let id): context.delete(try person(id))
        case .deleteDepartment(let id, _): context.delete(try object("Department", id))
        case .deleteSign(let id): context.delete(try object("Sign", id))
        }
    }
}

extension ManagedObjectContext {
    /// What the context shows of a graph: the plain form of it, and in words, both sides of each relationship.
    func shownGraph() throws -> (plain: PlainGraph, words: [Int: [String: String]]) {
        func number(_ object: ManagedObject?) -> Int? {
            // What is deleted or gone is shown by nobody.
            object.flatMap { $0.isDeleted ? nil : $0.int("number") }
        }
        func numbers(_ members: Set<ManagedObject>) -> Set<Int> {
            Set(members.compactMap { number($0) })
        }
        func inOrder(_ members: Any?) -> [Int] {
            (members as? [ManagedObject] ?? []).compactMap { number($0) }
        }
        var graph = PlainGraph()
        var words: [Int: [String: String]] = [:]
        let people = try all("Person")
        for person in people {
            graph.people[try #require(number(person))] = PlainGraph.Person(
                nick: person.int("nick"), spouse: number(person.object("spouse")),
                friends: numbers(person.members("friends")),
                mentor: number(person.object("mentor")), heroes: numbers(person.members("heroes")),
                parent: number(person.object("parent")),
                department: number(person.object("department")),
                list: inOrder(person["list"]), line: inOrder(person["line"]))
        }
        let departments = try all("Department")
        graph.departments = Set(departments.compactMap { number($0) })
        for sign in try all("Sign") {
            graph.signs[try #require(number(sign))] = .some(number(sign.object("department")))
        }
        // The sides that the plain graph has not.
        words = graph.words
        for person in people {
            guard let id = number(person) else { continue }
            words[id]?["children"] = numbers(person.members("children")).sorted().description
        }
        for department in departments {
            guard let id = number(department) else { continue }
            for key in ["employees", "signs"] {
                words[id]?[key] = numbers(department.members(key)).sorted().description
            }
        }
        return (graph, words)
    }
}
