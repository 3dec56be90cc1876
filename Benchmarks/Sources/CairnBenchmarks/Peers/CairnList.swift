// A controller over all products, and a delegate that counts what it is told.

import Cairn
import Foundation

final class CairnList: FollowingList {
    private final class Counter: FetchedResultsControllerDelegate {
        var changes = 0

        func controller(
            _ controller: FetchedResultsController<Item>, didChange item: Item,
            at old: IndexPath?, for type: FetchedResultsChangeType, newIndexPath new: IndexPath?
        ) {
            changes += 1
        }
    }

    private let context: ManagedObjectContext
    private let other: ManagedObjectContext
    private let controller: FetchedResultsController<Item>
    private let counter = Counter()
    private let ids: [ObjectID]
    private let request = FetchRequest<Item>(
        sortBy: [SortKey(\Item.category), SortKey(\Item.price), SortKey(\Item.serialCode)])

    init(_ context: ManagedObjectContext, _ other: ManagedObjectContext) throws {
        self.context = context
        self.other = other
        context.automaticallyMergesChangesFromParent = true
        controller = FetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: \.category)
        controller.delegate = counter
        ids = try context.fetchObjectIDs(request)
        try controller.performFetch()
    }

    private func change(_ number: Int, in context: ManagedObjectContext) {
        guard let item = context.object(with: ids[number]) as? Item else {
            preconditionFailure("the id is a product's")
        }
        item.price = item.price < 50 ? item.price + 50 : item.price - 50
    }

    func edit(_ number: Int) {
        change(number, in: context)
        let before = counter.changes
        context.processPendingChanges()
        precondition(counter.changes == before + 1, "the list is told of each change")
    }

    func save() throws { try context.save() }

    func commitElsewhere(_ number: Int) throws {
        change(number, in: other)
        try other.save()
    }

    func merge() {
        let before = counter.changes
        context.processPendingChanges()
        precondition(counter.changes == before + 1, "the list is told of each change")
    }

    func isInOrder() throws -> Bool {
        try controller.fetchedObjects == context.fetch(request)
    }
}
