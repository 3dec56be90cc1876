// The examples of the article of this name, as code that runs.

import Cairn
import Foundation
import StoreBackends
import Testing

// KeysOfManyKinds 1 begins
@Entity
final class Hall: ManagedObject {
    @Attribute(.unique) var link: URL?
    @Attribute(.unique) var opened: Date?
    @Relationship(deleteRule: .cascade, inverse: \Seat.hall) var seats: Set<Seat>
}

@Entity
final class Seat: ManagedObject {
    // A number is unique in its hall.
    #Unique<Seat>([\.hall, \.number])
    var number: Int?
    var hall: Hall?
}
// KeysOfManyKinds 1 ends

// KeysOfManyKinds 3 begins
@Entity
class Contact: ManagedObject {
    @Attribute(.unique) var uuid: UUID?
}

@Entity
final class Customer: Contact {
    @Attribute(.unique) var email: String?
}

@Entity
final class Supplier: Contact {
    var email: String?
    var taxNumber: String?
}
// KeysOfManyKinds 3 ends

// KeysOfManyKinds 6 begins
@Entity
final class Login: ManagedObject {
    // Of the logins in use no two of a club have one name, however it is written; those without a club are of one, too.
    #Unique<Login>(
        [\.club, \.name], where: "deletedAt == nil", nilsAreEqual: true, caseInsensitive: true)
    var club: String?
    var name: String?
    var deletedAt: Date?
}
// KeysOfManyKinds 6 ends

@Suite("Keys of many kinds")
struct KeysOfManyKinds {
    private func violated(_ context: ManagedObjectContext) throws -> [[String]] {
        do {
            try context.save()
            return []
        } catch let error as StoreError {
            defer { context.rollback() }
            return context.conflicts(in: error).compactMap {
                ($0 as? ConstraintConflict)?.constraint
            }
        }
    }

    @Test(
        "A to-one relationship and an attribute make a key together; nil never collides",
        arguments: Backend.compared)
    func seats(_ backend: Backend) async throws {
        let container = try backend.container(for: Hall.self)
        try await container.performBackgroundTask { context in
            // KeysOfManyKinds 2 begins
            let halls = [context.insert(Hall.self), context.insert(Hall.self)]
            for hall in halls {
                for number in 1...2 {
                    let seat = context.insert(Seat.self)
                    seat.hall = hall
                    seat.number = number
                }
            }
            // Nil never equals nil: both halls are without a link, and these two seats without a hall.
            for _ in 1...2 { context.insert(Seat.self).number = 1 }
            try context.save()

            let again = context.insert(Seat.self)
            again.hall = halls[1]
            again.number = 2
            // save() throws: there is a seat 2 in this hall.
            // KeysOfManyKinds 2 ends
            #expect(try violated(context) == [["hall", "number"]])
            #expect(try context.count(for: FetchRequest<Seat>()) == 6)
            for hall in halls { hall.link = URL(string: "https://example.org/hall") }
            #expect(try violated(context) == [["link"]])
            for hall in halls { hall.opened = Date(timeIntervalSinceReferenceDate: 0.5) }
            #expect(try violated(context) == [["opened"]])
        }
    }

    @Test(
        "A constraint holds over all subentities, and a subentity adds its own",
        arguments: Backend.compared)
    func contacts(_ backend: Backend) async throws {
        let container = try backend.container(for: Contact.self, Customer.self, Supplier.self)
        try await container.performBackgroundTask { context in
            // KeysOfManyKinds 4 begins
            let uuid = UUID()
            let customer = context.insert(Customer.self)
            customer.uuid = uuid
            customer.email = "ann@example.org"
            try context.save()

            // The address is unique among customers; a supplier may have it too.
            let supplier = context.insert(Supplier.self)
            supplier.email = "ann@example.org"
            try context.save()

            // The UUID is unique among all contacts.
            supplier.uuid = uuid
            // save() throws.
            // KeysOfManyKinds 4 ends
            #expect(try violated(context) == [["uuid"]])
            let second = context.insert(Customer.self)
            second.email = "ann@example.org"
            #expect(try violated(context) == [["email"]])
            #expect(try context.count(for: FetchRequest<Contact>()) == 2)
            // KeysOfManyKinds 5 begins
            supplier.uuid = UUID()
            try context.save()

            context.mergePolicy = .mergeByPropertyObjectTrump
            let other = context.insert(Supplier.self)
            other.uuid = uuid  // that of the customer
            other.taxNumber = "DE 123"
            // save() throws: a customer has no tax number.
            // KeysOfManyKinds 5 pauses
            #expect {
                try context.save()
            } throws: { error in
                let text = (error as? StoreError)?.fullDescription ?? ""
                return ["Supplier", "Customer", "taxNumber", "uuid"].allSatisfy(text.contains)
            }
            // KeysOfManyKinds 5 goes on

            // The supplier takes the place of the customer.
            context.mergePolicy = .overwrite
            try context.save()
            // KeysOfManyKinds 5 ends
            #expect(try context.count(for: FetchRequest<Customer>()) == 0)
            #expect(try context.count(for: FetchRequest<Supplier>()) == 2)
        }
    }

    @Test(
        "Who takes part, whether nil is a value and whether case counts are options",
        arguments: Backend.compared)
    func logins(_ backend: Backend) async throws {
        let container = try backend.container(for: Login.self)
        try await container.performBackgroundTask { context in
            // KeysOfManyKinds 7 begins
            let first = context.insert(Login.self)
            first.name = "Ann"
            try context.save()

            let second = context.insert(Login.self)
            second.name = "ANN"
            // save() throws.
            // KeysOfManyKinds 7 ends
            #expect(try violated(context) == [["club", "name"]])
            do {
                // KeysOfManyKinds 8 begins
                // Marked as deleted, the first one takes no part any more.
                first.deletedAt = Date()
                let second = context.insert(Login.self)
                second.name = "ANN"
                try context.save()

                // And as it comes back its name is taken.
                first.deletedAt = nil
                // save() throws.
                // KeysOfManyKinds 8 ends
                #expect(try violated(context) == [["club", "name"]])
            }
            // KeysOfManyKinds 9 begins
            let found = FetchRequest<Login>(
                predicate: try PredicateNode(
                    format: "club == nil AND name ==[c] 'ann' AND deletedAt == nil"))
            let access = try context.explain(found).access
            // unique index (club, name: where deletedAt == NULL, nil is a value, without regard to case)
            // KeysOfManyKinds 9 ends
            if backend == .log {
                #expect(
                    access
                        == "unique index (club, name: where deletedAt == NULL, nil is a value, without regard to case)"
                )
            } else {
                // What the server does is the server's choice.
                #expect(access.hasPrefix("in the server"))
            }
            #expect(try context.fetch(found).map(\.name) == ["ANN"])
        }
    }
}
