// Who is told of what becomes of a list.

public import CairnModel
public import CairnStore
public import Foundation

/// What becomes of an object, or of a section; the numbers are Core Data's.
public enum FetchedResultsChangeType: UInt, Sendable, Hashable, CaseIterable {
    /// It has come.
    case insert = 1
    /// It has gone.
    case delete = 2
    /// It is elsewhere, and may show other values: a move is not told as an update as well.
    case move = 3
    /// It is where it was, and shows other values.
    case update = 4
}

/// Gets the changes of a ``FetchedResultsController``. Each method has a form that does nothing: write those that
/// you need.
///
/// For each change of the list come, in this order: ``controllerWillChangeContent(_:)``; sections that went, by rising old
/// places, and came, by rising new ones; objects: deleted, inserted, moved, updated; the snapshot; the difference, if the list
/// has no sections; ``controllerDidChangeContent(_:)``. Only at the first of these the list is still as it was.
///
/// A save that gives new objects their permanent ids, and changes nothing else of the list, is told by the snapshot and the
/// difference alone: what is shown is as it was.
///
/// Old places are those before the change, new ones those after it. A table that takes out everything deleted and moved at
/// its old place, then puts in everything inserted and moved at its new one, places rising, has the new list.
/// A section that stands elsewhere is deleted and inserted, and its objects are moved.
///
/// A class on the main actor conforms to ``MainFetchedResultsControllerDelegate`` instead, and is set as
/// ``FetchedResultsController/mainDelegate``.
public protocol FetchedResultsControllerDelegate<Result>: AnyObject {
    /// The class of the objects.
    associatedtype Result: ManagedObject

    /// The list is about to change, and is as it was.
    func controllerWillChangeContent(_ controller: FetchedResultsController<Result>)

    /// A section came or went. Its objects are told one by one.
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

    /// The title of a section in an index beside the list; nil: its first letter, as a capital one.
    func controller(
        _ controller: FetchedResultsController<Result>,
        sectionIndexTitleForSectionName name: String
    ) -> String?

    /// The list could not follow: the store could not be read, and what is shown is out of date until the next change; or
    /// the objects of a section do not stand together any more, and there is no list until ``FetchedResultsController/performFetch()``.
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
