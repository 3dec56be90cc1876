// A state of the stores that a context goes on reading, with Core Data's names.
//
// Threads: any; it never changes.

package import CairnObjects
public import Foundation

/// A state of the stores that contexts go on reading, whatever is written meanwhile.
open class NSQueryGenerationToken: NSObject, NSCopying, @unchecked Sendable {
    // It never changes.

    /// The token that this one stands for.
    package let core: QueryGenerationToken

    package init(_ core: QueryGenerationToken) { self.core = core }

    /// The newest state at the time when a context with this token first reads.
    public static let current = NSQueryGenerationToken(.current)

    /// Whether both are one state of the same stores.
    open override func isEqual(_ other: Any?) -> Bool {
        (other as? NSQueryGenerationToken)?.core == core
    }

    /// Equal for one state.
    open override var hash: Int { core.hashValue }

    /// The token, which does not change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// The number of the state's commit.
    open override var description: String { "\(core)" }
}

extension NSManagedObjectContext {
    /// The state that the context reads; nil if it reads the newest one.
    public var queryGenerationToken: NSQueryGenerationToken? {
        made?.queryGenerationToken.map {
            $0 === QueryGenerationToken.current ? .current : NSQueryGenerationToken($0)
        }
    }

    /// Has the context go on reading one state; nil: the newest one again.
    ///
    /// - Throws: An error if the state cannot be read any more, or the context has a parent.
    public func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws {
        try withCoreDataErrors(in: self) { try core.setQueryGeneration(from: generation?.core) }
    }
}
