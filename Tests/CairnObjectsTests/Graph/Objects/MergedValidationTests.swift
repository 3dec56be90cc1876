// What a merge policy puts together is looked at by the classes that look at their objects, before it is stored.

import Cairn
import CairnStore
import StoreBackends
import Testing

/// Its width and height must not both be great.
@Entity
final class MergedBox: ManagedObject {
    @Attribute(.unique) var name: String = ""
    var width: Int = 0
    var height: Int = 0

    override func validateForUpdate() throws {
        try super.validateForUpdate()
        if width > 10, height > 10 { throw StoreError(.validation, "both are great") }
    }
}

/// Takes a height away that it must not have.
@Entity
final class YieldingBox: ManagedObject {
    var width: Int = 0
    var height: Int = 0

    override func validateForUpdate() throws {
        try super.validateForUpdate()
        if width > 10, height > 10 {
            height = 10
            throw StoreError(.validation, "both were great")
        }
    }
}

/// What has an address is one of these, of one kind or the other.
@Entity
class MergedContact: ManagedObject {
    @Attribute(.unique) var address: String = ""
    var size: Int = 0
}

/// Must not be large.
@Entity
final class MergedCustomer: MergedContact {
    override func validateForUpdate() throws {
        try super.validateForUpdate()
        if size > 10 { throw StoreError(.validation, "it is large") }
    }
}

@Suite("Validation of what is merged")
struct MergedValidationTests {
    private func stack(_ backend: Backend) throws -> Stack {
        try Stack(
            ManagedObjectModel(for: [MergedBox.self, YieldingBox.self]), backend,
            classes: ObjectClasses([
                "MergedBox": MergedBox.self, "YieldingBox": YieldingBox.self,
            ]))
    }

    @Test(
        "A class that overrides the validation of updates alone sees what the policy has put together",
        arguments: Backend.allCases)
    func merged(_ backend: Backend) throws {
        let stack = try stack(backend)
        let id = try stack.store { [MergedBox(context: $0)] }[0]
        func box(_ context: ManagedObjectContext) throws -> MergedBox {
            try #require(context.object(with: id) as? MergedBox)
        }
        let (mine, other) = (stack.context(.mergeByPropertyObjectTrump), stack.context())
        let own = try box(mine)
        own.width = 20
        try box(other).height = 20
        try other.save()
        #expect(storeError { try mine.save() }?.message == "both are great")
        let stored = try box(stack.context())
        #expect(stored.width == 0 && stored.height == 20)
        own.width = 5
        try mine.save()
        #expect(try box(stack.context()).width == 5)
    }

    @Test(
        "What validation changes in merged objects is validated again, and what was wrong before is not told",
        arguments: Backend.allCases)
    func rounds(_ backend: Backend) throws {
        let stack = try stack(backend)
        let id = try stack.store { [YieldingBox(context: $0)] }[0]
        let (mine, other) = (stack.context(.mergeByPropertyObjectTrump), stack.context())
        let own = try #require(mine.object(with: id) as? YieldingBox)
        own.width = 20
        try #require(other.object(with: id) as? YieldingBox).height = 20
        try other.save()
        try mine.save()
        let stored = try #require(stack.context().object(with: id) as? YieldingBox)
        #expect(stored.width == 20 && stored.height == 10)
    }

    @Test(
        "New objects are looked at as what they are merged into, be they few or many",
        arguments: Backend.allCases, [1, 15, 16, 40])
    func absorbed(_ backend: Backend, count: Int) throws {
        let stack = try stack(backend)
        try stack.store { context in
            (0..<count).map { number in
                let box = MergedBox(context: context)
                (box.name, box.width) = ("\(number)", 20)
                return box
            }
        }
        let context = stack.context(.mergeByPropertyObjectTrump)
        for number in 0..<count {
            let box = MergedBox(context: context)
            (box.name, box.width, box.height) = ("\(number)", 20, number == 0 ? 20 : 5)
        }
        #expect(storeError { try context.save() }?.message == "both are great")
        #expect(try stack.context().fetch(FetchRequest<MergedBox>()).allSatisfy { $0.height == 0 })
    }

    @Test("The class of the stored object counts, if it is another", arguments: Backend.allCases)
    func otherClass(_ backend: Backend) throws {
        let stack = try Stack(
            ManagedObjectModel(for: [MergedContact.self, MergedCustomer.self]), backend,
            classes: ObjectClasses([
                "MergedContact": MergedContact.self, "MergedCustomer": MergedCustomer.self,
            ]))
        try stack.store { context in
            let customer = MergedCustomer(context: context)
            customer.address = "x"
            return [customer]
        }
        let context = stack.context(.mergeByPropertyObjectTrump)
        let contact = MergedContact(context: context)
        (contact.address, contact.size) = ("x", 20)
        #expect(storeError { try context.save() }?.message == "it is large")
        // The policy has put them together by then.
        let customer = try #require(context.updatedObjects.first as? MergedCustomer)
        #expect(contact.absorbedInto == customer.objectID && customer.size == 20)
        customer.size = 10
        try context.save()
        let stored = try stack.context().fetch(FetchRequest<MergedContact>())
        #expect(stored.map(\.size) == [10] && stored[0] is MergedCustomer)
    }
}
