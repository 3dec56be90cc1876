// Who is told of what becomes of a list.

public import CairnObjects
public import Foundation

/// The type of a change to an object or a section.
public typealias NSFetchedResultsChangeType = FetchedResultsChangeType

/// Is told of the changes of an ``NSFetchedResultsController``.
///
/// Each function does nothing, if the class does not have it: implement those that you need, where the class says that it conforms.
/// All of them are called for each change.
///
/// The controller that they are given stands for the one that was made: it is equal to it (`==`, and `===` too), and has its list, but
/// is of the type that is written here, and so cannot be cast to `NSFetchedResultsController<Note>`.
public protocol NSFetchedResultsControllerDelegate: NSObjectProtocol {
    /// The list is about to change, and is as it was.
    func controllerWillChangeContent(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>)

    /// A section came or went. Its objects are told one by one.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType)

    /// An object came, went, moved, or shows other values.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange anObject: Any, at indexPath: IndexPath?, for type: NSFetchedResultsChangeType,
        newIndexPath: IndexPath?)

    /// What came, went and moved, for a list without sections.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>)

    /// The list has changed.
    func controllerDidChangeContent(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>)

    /// The title of a section in an index beside the list; nil: its first letter, as a capital one.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
    ) -> String?
}

extension NSFetchedResultsControllerDelegate {
    /// Does nothing.
    public func controllerWillChangeContent(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>
    ) {}

    /// Does nothing.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType
    ) {}

    /// Does nothing.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange anObject: Any, at indexPath: IndexPath?, for type: NSFetchedResultsChangeType,
        newIndexPath: IndexPath?
    ) {}

    /// Does nothing.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) {}

    /// Does nothing.
    public func controllerDidChangeContent(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>
    ) {}

    /// Nothing of its own.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
    ) -> String? { nil }
}

/// Snapshots for the data sources of UIKit and AppKit, which are not here.
@available(
    *, unavailable,
    message:
        "there is no UIKit here: use controller(_:didChangeContentWith:) with a CollectionDifference, or the controller's sections"
)
public final class NSDiffableDataSourceSnapshotReference: NSObject {}
