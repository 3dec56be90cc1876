// A section of a list, as it was when it was asked for.
//
// The controller keeps its sections, so that they do not keep it.

public import CairnModel

/// A section of a ``FetchedResultsController``, as it was when it was asked for.
public struct FetchedResultsSectionInfo<Result: ManagedObject> {
    /// What its objects have in common; empty if the list has no sections, or if that is nil.
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

    /// Its title in an index beside the list, as ``FetchedResultsController/sectionIndexTitle(forSectionName:)`` says.
    public var indexTitle: String? { controller?.sectionIndexTitle(forSectionName: name) }

    /// The ids of its objects, in order.
    public var objectIDs: [ObjectID] { snapshot.ids(range) }

    /// Its objects, in order; none once there is no controller any more.
    ///
    /// - Complexity: O(n) in the section, if the list holds its objects; else they are read at once.
    public var objects: [Result] { controller?.objects(of: objectIDs) ?? [] }
}
