// Requests for objects, whatever their class.
//
// Threads: the context's.

import CairnObjects

/// A request, whatever the class of its results.
protocol RequestOfObjects: AnyObject {
    /// What it says, for objects.
    func objectRequest(in context: NSManagedObjectContext) throws -> FetchRequest<ManagedObject>
    /// It, of the type that delegates are given.
    var erased: NSFetchRequest<any NSFetchRequestResult> { get }
}

extension NSFetchRequest: RequestOfObjects {}
