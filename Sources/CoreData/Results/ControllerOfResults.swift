// A fetched results controller, whatever the class of its objects.
//
// Swift's generics are not Objective-C's: a controller of notes is no controller of anything. So delegates are given one of the type
// that they are written with, and it is equal, and identical, to the one that was made, as far as a program can ask: both have this
// class, whose operators look at the list that they share.
//
// Threads: the context's queue.

public import Foundation

/// What an ``NSFetchedResultsController`` is, whatever the class of its objects.
open class ControllerOfResults: NSObject {
    let state: ResultsState

    init(_ state: ResultsState) { self.state = state }

    /// It, of the type that delegates are given.
    var erased: NSFetchedResultsController<any NSFetchRequestResult> {
        NSFetchedResultsController(state, state.request.erased)
    }

    /// The title of a section: from the delegate, or its first letter, as a capital one.
    open func sectionIndexTitle(forSectionName sectionName: String) -> String? {
        if let owner = state.owner, ObjectIdentifier(owner) != ObjectIdentifier(self) {
            return owner.sectionIndexTitle(forSectionName: sectionName)
        }
        return state.defaultTitle(sectionName)
    }

    /// Whether two have one list: the one that was made, and those that its delegate is given.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? ControllerOfResults)?.state === state
    }

    open override var hash: Int { ObjectIdentifier(state).hashValue }
}

/// Whether two have one list: a delegate is given another controller than the one that was made, of the type that it is written with.
public func === (left: ControllerOfResults?, right: ControllerOfResults?) -> Bool {
    left?.state === right?.state
}

/// Whether two do not have one list.
public func !== (left: ControllerOfResults?, right: ControllerOfResults?) -> Bool {
    !(left === right)
}
