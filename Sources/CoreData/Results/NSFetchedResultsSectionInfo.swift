// A section of a list.

import CairnObjects

/// A section of an ``NSFetchedResultsController``.
public protocol NSFetchedResultsSectionInfo {
    /// The section's name; empty if the list has no sections.
    var name: String { get }
    /// Its title in an index beside the list.
    var indexTitle: String? { get }
    /// How many objects it has.
    var numberOfObjects: Int { get }
    /// Its objects, in order.
    var objects: [Any]? { get }
}

/// A section of the list behind, as it was when it was asked for.
struct SectionOfResults: NSFetchedResultsSectionInfo {
    let core: FetchedResultsSectionInfo<ManagedObject>

    var name: String { core.name }
    var indexTitle: String? { core.indexTitle }
    var numberOfObjects: Int { core.numberOfObjects }
    var objects: [Any]? { core.objects }
}
