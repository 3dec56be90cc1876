// A graph of people, departments and signs in the plainest form: numbers that lead to numbers.

/// What a context should show.
struct PlainGraph: Equatable {
    struct Person: Equatable {
        var nick: Int?
        var spouse: Int?
        var friends: Set<Int> = []
        var mentor: Int?
        var heroes: Set<Int> = []
        var parent: Int?
        var department: Int?
        /// People in an order.
        var list: [Int] = []
        /// Signs in an order; each is in one line at most.
        var line: [Int] = []
    }

    var people: [Int: Person] = [:]
    var departments: Set<Int> = []
    /// Signs with their departments, be it that these are no more.
    var signs: [Int: Int?] = [:]

    /// Whether a department is gone that people still belong to, which its delete rule forbids.
    var isForbidden: Bool {
        people.values.contains { $0.department.map { !departments.contains($0) } ?? false }
    }

    func children(_ id: Int) -> Set<Int> { Set(people.filter { $0.value.parent == id }.keys) }

    mutating func apply(_ edit: GraphEdit) {
        switch edit {
        case .insertPerson(let id): people[id] = Person()
        case .insertDepartment(let id): departments.insert(id)
        case .insertSign(let id): signs[id] = .some(nil)
        case .nick(let id, let nick): people[id]?.nick = nick
        case .spouse(let id, let other): marry(id, other)
        case .friends(let id, let friends): befriend(id, friends)
        case .addFriend(let id, let other):
            people[id]?.friends.insert(other)
            people[other]?.friends.insert(id)
        case .removeFriend(let id, let other):
            people[id]?.friends.remove(other)
            people[other]?.friends.remove(id)
        case .mentor(let id, let other): people[id]?.mentor = other
        case .heroes(let id, let heroes): people[id]?.heroes = heroes
        case .parent(let id, let other): people[id]?.parent = other
        case .children(let id, let children):
            for other in people.keys where people[other]?.parent == id {
                people[other]?.parent = nil
            }
            for child in children { people[child]?.parent = id }
        case .department(let id, let department): people[id]?.department = department
        case .employees(let department, let employees):
            for id in people.keys where people[id]?.department == department {
                people[id]?.department = nil
            }
            for id in employees { people[id]?.department = department }
        case .list(let id, let list): people[id]?.list = list
        case .line(let id, let line):
            for person in people.keys where person != id {
                people[person]?.line.removeAll(where: line.contains)
            }
            people[id]?.line = line
        case .holder(let sign, let holder):
            if let holder, people[holder]?.line.contains(sign) == true { return }
            for person in people.keys { people[person]?.line.removeAll { $0 == sign } }
            if let holder { people[holder]?.line.append(sign) }
        case .sign(let id, let department): signs[id] = .some(department)
        case .deletePerson(let id): delete(id)
        case .deleteDepartment(let id, let isStored):
            departments.remove(id)
            if isStored { return }
            for person in people.keys where people[person]?.department == id {
                people[person]?.department = nil
            }
            for sign in signs.keys where signs[sign] == id { signs[sign] = .some(nil) }
        case .deleteSign(let id):
            signs[id] = nil
            for person in people.keys { people[person]?.line.removeAll { $0 == id } }
        }
    }

    private mutating func marry(_ id: Int, _ other: Int?) {
        for person in people.keys {
            let spouse = people[person]?.spouse
            if spouse == id || (other != nil && spouse == other) { people[person]?.spouse = nil }
        }
        people[id]?.spouse = other
        if let other { people[other]?.spouse = id }
    }

    private mutating func befriend(_ id: Int, _ friends: Set<Int>) {
        for other in people.keys where other != id { people[other]?.friends.remove(id) }
        people[id]?.friends = friends
        for other in friends { people[other]?.friends.insert(id) }
    }

    private mutating func delete(_ id: Int) {
        guard people[id] != nil else { return }
        let children = children(id)
        people[id] = nil
        for other in people.keys {
            people[other]?.friends.remove(id)
            people[other]?.heroes.remove(id)
            people[other]?.list.removeAll { $0 == id }
            if people[other]?.spouse == id { people[other]?.spouse = nil }
            if people[other]?.mentor == id { people[other]?.mentor = nil }
        }
        for child in children { delete(child) }
    }

    /// What stands in the graph that cannot be: sides that do not agree, and what leads to nothing.
    var contradictions: [String] {
        var found: [String] = []
        for (id, person) in people.sorted(by: { $0.key < $1.key }) {
            if let spouse = person.spouse, people[spouse]?.spouse != id {
                found.append("\(id) is married to \(spouse), not the other way round")
            }
            for friend in person.friends where people[friend]?.friends.contains(id) != true {
                found.append("\(id) is a friend of \(friend), not the other way round")
            }
            let others =
                [person.mentor, person.parent].compactMap { $0 } + person.heroes + person.list
            for sign in person.line where signs[sign] == nil {
                found.append("\(id) has \(sign) in line, which is not there")
            }
            for other in others where people[other] == nil {
                found.append("\(id) leads to \(other), who is not there")
            }
        }
        return found
    }

    // MARK: In words

    /// Both sides of everything, of each object by its number.
    var words: [Int: [String: String]] {
        func text(_ numbers: some Sequence<Int>) -> String { numbers.sorted().description }
        func text(_ number: Int?) -> String { number.map { "\($0)" } ?? "nil" }
        func department(_ id: Int?) -> String {
            text(id.flatMap { departments.contains($0) ? $0 : nil })
        }
        var words: [Int: [String: String]] = [:]
        for (id, person) in people {
            words[id] = [
                "nick": text(person.nick), "spouse": text(person.spouse),
                "friends": text(person.friends), "mentor": text(person.mentor),
                "heroes": text(person.heroes), "parent": text(person.parent),
                "children": text(children(id)), "department": department(person.department),
                "list": person.list.description, "line": person.line.description,
            ]
        }
        for id in departments {
            words[id] = [
                "employees": text(people.filter { $0.value.department == id }.keys),
                "signs": text(signs.filter { $0.value == id }.keys),
            ]
        }
        for (id, sign) in signs { words[id] = ["department": department(sign)] }
        return words
    }
}
