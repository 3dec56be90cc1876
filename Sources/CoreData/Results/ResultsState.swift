// What a fetched results controller is, whatever the class of its objects.
//
// Its delegate is given controllers of another type than the one that was made, as Objective-C's generics would have it: they share
// this. It also hears what becomes of the list behind, and tells the delegate.
//
// Threads: the context's queue.

import CairnModel
import CairnObjects
import Foundation

/// The list of a controller, and who is told of it.
final class ResultsState {
    /// The request, which is an `NSFetchRequest` of the controller's results.
    let request: any RequestOfObjects
    let context: NSManagedObjectContext
    let sectionNameKeyPath: String?
    let cacheName: String?
    weak var delegate: (any NSFetchedResultsControllerDelegate)? {
        didSet { core?.delegate = delegate == nil ? nil : self }
    }
    /// The controller that was made.
    weak var owner: ControllerOfResults?
    /// The list behind; nil until it is fetched.
    private(set) var core: FetchedResultsController<ManagedObject>?

    init(
        _ request: any RequestOfObjects, _ context: NSManagedObjectContext,
        sectionNameKeyPath: String?, cacheName: String?
    ) {
        self.request = request
        self.context = context
        self.sectionNameKeyPath = sectionNameKeyPath
        self.cacheName = cacheName
    }

    /// Fetches the list, by what the request says now.
    func performFetch() throws {
        let request = try request.objectRequest(in: context)
        if let core {
            core.fetchRequest = request
            return try core.performFetch()
        }
        let made = TitledController(
            fetchRequest: request, managedObjectContext: context.core,
            sectionNameKeyPath: sectionNameKeyPath, cacheName: cacheName)
        made.state = self
        made.delegate = delegate == nil ? nil : self
        try made.performFetch()
        core = made
    }

    /// The title of a section, by the controller's class.
    func title(_ name: String) -> String? {
        owner.map { $0.sectionIndexTitle(forSectionName: name) } ?? defaultTitle(name)
    }

    /// The title of a section, by its delegate or its first letter.
    func defaultTitle(_ name: String) -> String? {
        if let title = tell({ $0.controller($1, sectionIndexTitleForSectionName: name) }) {
            return title
        }
        return name.first.map { String($0).uppercased() }
    }

    /// Tells the delegate, if there are both it and a controller.
    @discardableResult
    private func tell<R>(
        _ body: (
            any NSFetchedResultsControllerDelegate,
            NSFetchedResultsController<any NSFetchRequestResult>
        ) -> R?
    ) -> R? {
        guard let delegate, let owner else { return nil }
        return body(delegate, owner.erased)
    }
}

/// A controller whose titles are its owner's.
private final class TitledController: FetchedResultsController<ManagedObject> {
    weak var state: ResultsState?

    override func sectionIndexTitle(forSectionName name: String) -> String? { state?.title(name) }
}

extension ResultsState: FetchedResultsControllerDelegate {
    typealias Result = ManagedObject

    func controllerWillChangeContent(_ controller: FetchedResultsController<ManagedObject>) {
        tell { $0.controllerWillChangeContent($1) }
    }

    func controller(
        _ controller: FetchedResultsController<ManagedObject>,
        didChange section: FetchedResultsSectionInfo<ManagedObject>, atSectionIndex index: Int,
        for type: FetchedResultsChangeType
    ) {
        tell {
            $0.controller(
                $1, didChange: SectionOfResults(core: section), atSectionIndex: index, for: type)
        }
    }

    func controller(
        _ controller: FetchedResultsController<ManagedObject>, didChange object: ManagedObject,
        at indexPath: IndexPath?, for type: FetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        tell {
            $0.controller(
                $1, didChange: object, at: indexPath, for: type, newIndexPath: newIndexPath)
        }
    }

    func controller(
        _ controller: FetchedResultsController<ManagedObject>,
        didChangeContentWith difference: CollectionDifference<ObjectID>
    ) {
        tell { delegate, controller in
            let changes = difference.map {
                change -> CollectionDifference<NSManagedObjectID>.Change in
                switch change {
                case .insert(let offset, let id, let other):
                    .insert(offset: offset, element: context.facadeID(id), associatedWith: other)
                case .remove(let offset, let id, let other):
                    .remove(offset: offset, element: context.facadeID(id), associatedWith: other)
                }
            }
            guard let difference = CollectionDifference(changes) else { return }
            delegate.controller(controller, didChangeContentWith: difference)
        }
    }

    func controllerDidChangeContent(_ controller: FetchedResultsController<ManagedObject>) {
        tell { $0.controllerDidChangeContent($1) }
    }
}
