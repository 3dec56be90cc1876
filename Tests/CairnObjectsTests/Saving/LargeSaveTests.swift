// Saves whose work must not grow with the square of what they hold: at these sizes that would be minutes.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("Large saves")
struct LargeSaveTests {
    @Test("Ten thousand new objects take the place of ten thousand stored ones")
    func upsert() throws {
        let stack = try Stack(Models.shop, .log)
        for name in ["old", "new"] {
            let context = stack.context(.mergeByPropertyObjectTrump)
            for number in 0..<10_000 {
                context.make("Product", ["serialCode": "\(number)", "name": name])
            }
            try context.save()
        }
        let context = stack.context()
        #expect(try context.count("Product") == 10_000)
        #expect(try context.find("Product", "name", .string("new")).count == 10_000)
    }

    @Test("Thousands of changed objects that want one key go back", arguments: [1000, 3000])
    func oneKey(_ count: Int) throws {
        let stack = try Stack(Models.shop, .log)
        try stack.store { context in
            (0..<count).map { context.make("Product", ["serialCode": "\($0)"]) }
        }
        let context = stack.context(.rollback)
        let objects = try context.all("Product")
        for object in objects { object["serialCode"] = "7" }
        try context.save()
        #expect(Set(objects.compactMap { $0.string("serialCode") }).count == count)
        #expect(try stack.context().find("Product", "serialCode", .string("7")).count == 1)
    }

    @Test("A chain of thousands of objects goes with the first, whoever else points at them")
    func chain() throws {
        let stack = try Stack(Models.people, .log)
        let first = try stack.store { context in
            var people = [context.make("Person", ["name": "0"])]
            for number in 1..<5000 {
                let last = people[number - 1]
                people.append(
                    context.make(
                        "Person", ["name": "\(number)", "parent": last, "mentor": last]))
            }
            return people
        }[0]
        let context = stack.context()
        context.delete(context.object(with: first))
        try context.save()
        #expect(try stack.context().count("Person") == 0)
    }
}
