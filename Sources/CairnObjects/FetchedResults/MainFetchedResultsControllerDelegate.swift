// Whoever is told of what becomes of a list, and lives on the main actor.

public import CairnModel
public import CairnStore
public import Foundation

/// Receives the changes of a ``FetchedResultsController`` on the main actor, for views and their models.
///
/// A class marked `@MainActor` can conform to it, and is set as ``FetchedResultsController/mainDelegate``:
///
/// ```swift
/// @MainActor final class ProductList: MainFetchedResultsControllerDelegate {
///     func controllerDidChangeContent(_ controller: FetchedResultsController<Product>) { show() }
/// }
/// ```
///
/// The methods are those of ``FetchedResultsControllerDelegate``, and are called in the same order. Each has an empty
/// default: implement those that you need.
@MainActor
public protocol MainFetchedResultsControllerDelegate<Result>: AnyObject {
    /// The class of the objects.
    associatedtype Result: ManagedObject

    /// The list is about to change, and is as it was.
    func controllerWillChangeContent(_ controller: FetchedResultsController<Result>)

    /// A section was inserted or deleted. Its objects are reported individually.
    func controller(
        _ controller: FetchedResultsController<Result>,
        didChange section: FetchedResultsSectionInfo<Result>, atSectionIndex index: Int,
        for type: FetchedResultsChangeType)

    /// An object came, went, moved, or shows other values.
    func controller(
        _ controller: FetchedResultsController<Result>, didChange object: Result,
        at indexPath: IndexPath?, for type: FetchedResultsChangeType, newIndexPath: IndexPath?)

    /// The whole list by ids, as it is now.
    func controller(
        _ controller: FetchedResultsController<Result>,
        didChangeContentWith snapshot: FetchedResultsSnapshot)

    /// What came, went and moved, for a list without sections.
    func controller(
        _ controller: FetchedResultsController<Result>,
        didChangeContentWith difference: CollectionDifference<ObjectID>)

    /// The list has changed.
    func controllerDidChangeContent(_ controller: FetchedResultsController<Result>)

    /// The title of a section in an index next to the list; nil: its first letter, in upper case.
    func controller(
        _ controller: FetchedResultsController<Result>,
        sectionIndexTitleForSectionName name: String
    ) -> String?

    /// The list could not follow; see ``FetchedResultsControllerDelegate``.
    func controller(
        _ controller: FetchedResultsController<Result>, didFailToFollow error: StoreError)
}

extension MainFetchedResultsControllerDelegate {
    /// Does nothing.
    public func controllerWillChangeContent(_ controller: FetchedResultsController<Result>) {}

    /// Does nothing.
    public func controller(
        _ controller: FetchedResultsController<Result>,
        didChange section: FetchedResultsSectionInfo<Result>, atSectionIndex index: Int,
        for type: FetchedResultsChangeType
    ) {}

    /// Does nothing.
    public func controller(
        _ controller: FetchedResultsController<Result>, didChange object: Result,
        at indexPath: IndexPath?, for type: FetchedResultsChangeType, newIndexPath: IndexPath?
    ) {}

    /// Does nothing.
    public func controller(
        _ controller: FetchedResultsController<Result>,
        didChangeContentWith snapshot: FetchedResultsSnapshot
    ) {}

    /// Does nothing.
    public func controller(
        _ controller: FetchedResultsController<Result>,
        didChangeContentWith difference: CollectionDifference<ObjectID>
    ) {}

    /// Does nothing.
    public func controllerDidChangeContent(_ controller: FetchedResultsController<Result>) {}

    /// Nothing of its own.
    public func controller(
        _ controller: FetchedResultsController<Result>,
        sectionIndexTitleForSectionName name: String
    ) -> String? { nil }

    /// Does nothing.
    public func controller(
        _ controller: FetchedResultsController<Result>, didFailToFollow error: StoreError
    ) {}
}

/// Passes what a controller tells to a delegate on the main actor.
///
/// Nothing is sent anywhere: the controller of a delegate on the main actor is used there, with its context and its objects, and
/// tells where it is used. Elsewhere `assumeIsolated` stops the program.
final class MainDelegate<Result: ManagedObject>: FetchedResultsControllerDelegate {
    private(set) weak var delegate: (any MainFetchedResultsControllerDelegate<Result>)?

    init(_ delegate: any MainFetchedResultsControllerDelegate<Result>) { self.delegate = delegate }

    func controllerWillChangeContent(_ controller: FetchedResultsController<Result>) {
        nonisolated(unsafe) let (told, here) = (delegate, controller)
        MainActor.assumeIsolated { told?.controllerWillChangeContent(here) }
    }

    func controller(
        _ controller: FetchedResultsController<Result>,
        didChange section: FetchedResultsSectionInfo<Result>, atSectionIndex index: Int,
        for type: FetchedResultsChangeType
    ) {
        nonisolated(unsafe) let (told, here, section) = (delegate, controller, section)
        MainActor.assumeIsolated {
            told?.controller(here, didChange: section, atSectionIndex: index, for: type)
        }
    }

    func controller(
        _ controller: FetchedResultsController<Result>, didChange object: Result,
        at indexPath: IndexPath?, for type: FetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        nonisolated(unsafe) let (told, here, object) = (delegate, controller, object)
        MainActor.assumeIsolated {
            told?.controller(
                here, didChange: object, at: indexPath, for: type, newIndexPath: newIndexPath)
        }
    }

    func controller(
        _ controller: FetchedResultsController<Result>,
        didChangeContentWith snapshot: FetchedResultsSnapshot
    ) {
        nonisolated(unsafe) let (told, here) = (delegate, controller)
        MainActor.assumeIsolated { told?.controller(here, didChangeContentWith: snapshot) }
    }

    func controller(
        _ controller: FetchedResultsController<Result>,
        didChangeContentWith difference: CollectionDifference<ObjectID>
    ) {
        nonisolated(unsafe) let (told, here) = (delegate, controller)
        MainActor.assumeIsolated { told?.controller(here, didChangeContentWith: difference) }
    }

    func controllerDidChangeContent(_ controller: FetchedResultsController<Result>) {
        nonisolated(unsafe) let (told, here) = (delegate, controller)
        MainActor.assumeIsolated { told?.controllerDidChangeContent(here) }
    }

    func controller(
        _ controller: FetchedResultsController<Result>,
        sectionIndexTitleForSectionName name: String
    ) -> String? {
        nonisolated(unsafe) let (told, here) = (delegate, controller)
        return MainActor.assumeIsolated {
            told?.controller(here, sectionIndexTitleForSectionName: name)
        }
    }

    func controller(
        _ controller: FetchedResultsController<Result>, didFailToFollow error: StoreError
    ) {
        nonisolated(unsafe) let (told, here) = (delegate, controller)
        MainActor.assumeIsolated { told?.controller(here, didFailToFollow: error) }
    }
}
