// People with relationships of every kind.

import CairnTestSupport

@testable import CairnObjects

enum PeopleAtRandom {
    /// By entity of the model of people: what tells its objects apart.
    static let keys = [
        "Person": "name", "Passport": "number", "Department": "name", "Desk": "number",
        "Sign": "text",
    ]

    /// Makes people, some with passports, who are connected with each other and with departments.
    static func make(
        _ count: Int, departments: Int, in context: ManagedObjectContext,
        _ random: inout RandomSource
    ) -> (people: [ManagedObject], departments: [ManagedObject]) {
        let departments = (0..<departments).map {
            context.make("Department", ["name": "d\($0)"])
        }
        let people = (0..<count).map { context.make("Person", ["name": "p\($0)"]) }
        for (number, person) in people.enumerated() {
            if random.chance(50) { person["department"] = random.pick(departments) }
            if random.chance(30) {
                person["passport"] = context.make("Passport", ["number": number])
            }
            for key in ["spouse", "mentor", "parent"] where random.chance(40) {
                person[key] = random.pick(people)
            }
            for key in ["friends", "heroes"] {
                person[key] = Set((0..<random.below(4)).compactMap { _ in random.pick(people) })
            }
        }
        return (people, departments)
    }
}
