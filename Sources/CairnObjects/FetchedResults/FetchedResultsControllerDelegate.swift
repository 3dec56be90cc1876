// Who is told of what becomes of a list.

public import CairnModel
public import CairnStore
public import Foundation

/// The type of a change to an object or a section; the raw values are Core Data's.
public enum FetchedResultsChangeType: UInt, Sendable, Hashable, CaseIterable {
    /// It has come.
    case insert = 1
    /// It has gone.
    case delete = 2
    /// It is at another index path, and can have other values: a move is not also reported as an update.
    case move = 3
    /// It is where it was, and shows other values.
    case update = 4
}

/// Receives the changes of a ``FetchedResultsController``. Every method has an empty default: implement those that you
/// need.
///
/// For each change of the list, these are called in order: ``controllerWillChangeContent(_:)``; deleted sections, by
/// ascending old index, and inserted ones, by ascending new index; objects: deleted, inserted, moved, updated; the
/// snapshot; the difference, if the list has no sections; ``controllerDidChangeContent(_:)``. Only in the first of
/// these, the list is still unchanged.
///
/// A save that only gives new objects their permanent ids is only reported by the snapshot and the difference: what is
/// shown does not change.
///
/// Old index paths refer to the list before the change, new ones to the list after it. Removing everything deleted and
/// moved at its old index, then inserting everything inserted and moved at its new index, in ascending order, results
/// in the new list. A section that moves is deleted and inserted, and its objects are moved.
///
/// A class on the main actor conforms to ``MainFetchedResultsControllerDelegate`` instead, and is set as
/// ``FetchedResultsController/mainDelegate``.
public protocol FetchedResultsControllerDelegate<Result>: AnyObject {
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
    ///
    /// - Parameters:
    ///   - indexPath: where it was; nil for one that has come.
    ///   - newIndexPath: where it is; nil for one that has gone.
    func controller(
        _ controller: FetchedResultsController<Result>, didChange object: Result,
        at indexPath: IndexPath?, for type: FetchedResultsChangeType, newIndexPath: IndexPath?)

    /// The whole list by ids, as it is now.
    func controller(
        _ controller: FetchedResultsController<Result>,
        didChangeContentWith snapshot: FetchedResultsSnapshot)

    /// What came, went and moved, for a list without sections. Objects that show other values where they were are not in it.
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

    /// The list could not be updated: the store could not be read, and the list is out of date until the next change; or
    /// the objects of a section are no longer adjacent, and there is no list until
    /// ``FetchedResultsController/performFetch()``.
    /// It may come after ``controllerWillChangeContent(_:)``, in place of all that would have followed.
    func controller(
        _ controller: FetchedResultsController<Result>, didFailToFollow error: StoreError)
}

extension FetchedResultsControllerDelegate {
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
