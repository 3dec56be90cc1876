// The examples of the article of this name, as code that runs.

import Cairn
import CairnTestSupport
import Foundation
import StoreBackends
import Testing

// TheDuplicateStorm 1 begins
@Entity
final class Person: ManagedObject {
    #Index<Person>([\.email])
    var email: String
    var phone: String?
    /// Made by the device that made the person, and the same on all devices.
    var mark: UUID
    @Relationship(deleteRule: .cascade, inverse: \Address.person) var addresses: Set<Address>
}

@Entity
final class Address: ManagedObject {
    var city: String = ""
    var person: Person?
}
// TheDuplicateStorm 1 ends

// TheDuplicateStorm 2 begins
func repeatedAddresses(
    _ context: ManagedObjectContext, where condition: PredicateNode? = nil
) throws -> [String] {
    var request = FetchRequest<DictionaryResult>(entityName: "Person", predicate: condition)
    let count = try ExpressionDescription("count", "count:(email)", resultType: .integer64)
    request.propertiesToFetch = ["email", .expression(count)]
    request.propertiesToGroupBy = ["email"]
    request.havingPredicate = try PredicateNode(format: "$count > 1")
    return try context.fetch(request).compactMap { $0["email"] as? String }
}
// TheDuplicateStorm 2 ends

// TheDuplicateStorm 3 begins
func unite(_ emails: [String], _ context: ManagedObjectContext) throws {
    var request = try FetchRequest<Person>(
        #Predicate { emails.contains($0.email) }, sortBy: [.init(\.email)])
    request.relationshipKeyPathsForPrefetching = ["addresses"]
    let people = Dictionary(grouping: try context.fetch(request), by: \.email)
    for same in people.values {
        // The least mark wins: every device keeps the same person, in whatever order they arrived.
        let ordered = same.sorted { $0.mark.uuidString < $1.mark.uuidString }
        let winner = ordered[0]
        for loser in ordered.dropFirst() {
            winner.phone = winner.phone ?? loser.phone
            context.delete(loser)  // and its addresses with it
        }
    }
    try context.save()
}
// TheDuplicateStorm 3 ends

// TheDuplicateStorm 4 begins
func repeatedAddresses(
    of arrivals: [ObjectID], _ context: ManagedObjectContext
) throws -> [String] {
    let arrived = try FetchRequest<Person>(#Predicate { arrivals.contains($0.objectID) })
    let emails = Set(try context.fetch(arrived).map(\.email))
    let same = try FetchRequest<Person>(#Predicate { emails.contains($0.email) })
    return try repeatedAddresses(context, where: same.predicate)
}
// TheDuplicateStorm 4 ends

// TheDuplicateStorm 6 begins
func unite(
    _ context: ManagedObjectContext, among arrivals: [ObjectID]? = nil
) throws -> DeduplicationResult {
    var request = DeduplicationRequest(
        Person.self, by: [\.email],
        keeping: .merge(["addresses": .keep], into: .smallest(by: "mark")))
    request.incoming = arrivals  // nil: all who are stored
    return try context.execute(request)
}
// TheDuplicateStorm 6 ends

@Suite("The duplicate storm")
struct TheDuplicateStorm {
    /// What a device sends of a person.
    private struct Sent {
        let email: String
        let phone: String?
        let mark: UUID
    }

    @Test(
        "300 people who arrive three times are 300 again, the same ones in whatever order they came",
        arguments: Backend.compared)
    func storm(_ backend: Backend) async throws {
        // What three devices send: the marks are theirs.
        let devices: [[Sent]] = (0..<3).map { device in
            (0..<300).map { number in
                let phone: String? = number % 3 == device ? "+49 \(number)" : nil
                return Sent(email: "person\(number)@example.org", phone: phone, mark: UUID())
            }
        }
        func kept(_ order: [Int], byRequest: Bool = false) async throws -> [String: UUID] {
            let container = try backend.container(for: Person.self)
            return try await container.performBackgroundTask { context in
                for device in order {
                    for sent in devices[device] {
                        let person = context.insert(Person.self)
                        person.email = sent.email
                        person.phone = sent.phone
                        person.mark = sent.mark
                        context.insert(Address.self).person = person
                    }
                    try context.save()
                }
                let repeated = try repeatedAddresses(context)
                #expect(repeated.count == 300)
                if byRequest {
                    let result = try unite(context)
                    #expect(result.deletedCount == 600 && result.cascadedCount == 600)
                    context.reset()
                } else {
                    try unite(repeated, context)
                }
                #expect(try repeatedAddresses(context).isEmpty)
                let people = try context.fetch(FetchRequest<Person>())
                #expect(people.count == 300 && people.allSatisfy { $0.phone != nil })
                #expect(people.allSatisfy { $0.addresses.count == 1 })
                #expect(try context.count(for: FetchRequest<Address>()) == 300)
                return Dictionary(uniqueKeysWithValues: people.map { ($0.email, $0.mark) })
            }
        }
        let forward = try await kept([0, 1, 2])
        #expect(try await kept([2, 0, 1]) == forward)
        #expect(try await kept([0, 1, 2], byRequest: true) == forward)
        #expect(try await kept([1, 2, 0], byRequest: true) == forward)
        let marks = Set(devices.joined().map(\.mark))
        #expect(forward.values.allSatisfy(marks.contains))
    }

    @Test("Only those who have just arrived are looked at", arguments: Backend.compared)
    func arrivals(_ backend: Backend) async throws {
        let container = try backend.container(for: Person.self)
        try await container.performBackgroundTask { context in
            for number in 0..<100 {
                let person = context.insert(Person.self)
                // Two of them have one address since long.
                person.email = "person\(number == 99 ? 98 : number)@example.org"
                person.mark = UUID()
                context.insert(Address.self).person = person
            }
            try context.save()
        }
        let wait = OpenWait(for: "the change to be told")
        defer { wait.end() }
        // TheDuplicateStorm 5 begins
        let background = container.newBackgroundContext()
        let changes = container.remoteChanges
        // TheDuplicateStorm 5 pauses
        // Of twenty who arrive, five are known.
        try await container.performBackgroundTask { context in
            context.transactionAuthor = "sync"
            for number in 0..<20 {
                let person = context.insert(Person.self)
                person.email = number < 5 ? "person\(number)@example.org" : "new\(number)"
                person.mark = UUID()
                context.insert(Address.self).person = person
            }
            try context.save()
        }
        // TheDuplicateStorm 5 goes on
        for await change in changes where change.author == "sync" {
            let arrived = change.insertedObjectIDs
            try await background.perform { context in
                try unite(repeatedAddresses(of: arrived, context), context)
            }
            // TheDuplicateStorm 5 pauses
            break
            // TheDuplicateStorm 5 goes on
        }
        // TheDuplicateStorm 5 ends
        let people = try await background.perform { context in
            try context.fetch(FetchRequest<Person>()).map(\.email)
        }
        #expect(people.count == 115 && people.count { $0.hasPrefix("new") } == 15)
        // Those two have not arrived just now.
        #expect(people.count { $0 == "person98@example.org" } == 2)
        #expect(Set(people).count == 114)
        #expect(
            try await background.perform { try $0.count(for: FetchRequest<Address>()) } == 115)
    }
}
