// What a merge policy puts together is looked at by the classes that look at their objects, before it is stored.

import Cairn
import CairnStore
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
}
