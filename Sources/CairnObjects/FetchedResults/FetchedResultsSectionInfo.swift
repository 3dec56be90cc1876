// A section of a list, as it was when it was asked for.
//
// The controller keeps its sections, so that they do not keep it.

public import CairnModel

/// A section of a ``FetchedResultsController``, at the time when it was requested.
public struct FetchedResultsSectionInfo<Result: ManagedObject> {
    /// The section's name; empty if the list has no sections, or if the name is nil.
    public let name: String
    /// How many objects it has.
    public let numberOfObjects: Int
    private let snapshot: FetchedResultsSnapshot
    private let range: Range<Int>
    private weak var controller: FetchedResultsController<Result>?

    init(
        _ name: String, _ range: Range<Int>, _ snapshot: FetchedResultsSnapshot,
        _ controller: FetchedResultsController<Result>
    ) {
        self.name = name
        self.range = range
        self.snapshot = snapshot
        self.controller = controller
        numberOfObjects = range.count
    }

    /// Its index title, from ``FetchedResultsController/sectionIndexTitle(forSectionName:)``.
    public var indexTitle: String? { controller?.sectionIndexTitle(forSectionName: name) }

    /// The ids of its objects, in order.
    public var objectIDs: [ObjectID] { snapshot.ids(range) }

    /// Its objects, in order; none after the controller was released.
    ///
    /// - Complexity: O(n) in the section, if the list retains its objects; otherwise they are read at once.
    public var objects: [Result] { controller?.objects(of: objectIDs) ?? [] }
}
