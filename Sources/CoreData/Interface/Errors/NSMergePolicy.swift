// What a save does about conflicts, with Core Data's names.
//
// A policy stands for one of Cairn's: for a built-in one, which the store carries out; or, if its class is the program's own, for one
// that asks it.
//
// Threads: any; a policy of one's own, the queue of the context whose save asks it.

package import CairnObjects
import CairnStore
public import Foundation

/// What a save does when an object was changed elsewhere, or when a uniqueness constraint would be violated.
///
/// A policy of one's own overrides one of the functions, adjusts the objects, and calls super.
open class NSMergePolicy: NSObject {
    /// The policy that this one starts from.
    public let mergeType: NSMergePolicyType
    /// What Cairn does of that kind.
    private let builtIn: MergePolicy

    /// A policy that starts from a built-in one.
    public init(merge type: NSMergePolicyType) {
        mergeType = type
        builtIn =
            switch type {
            case .errorMergePolicyType: .error
            case .mergeByPropertyStoreTrumpMergePolicyType: .mergeByPropertyStoreTrump
            case .mergeByPropertyObjectTrumpMergePolicyType: .mergeByPropertyObjectTrump
            case .overwriteMergePolicyType: .overwrite
            case .rollbackMergePolicyType: .rollback
            }
    }

    /// The policy that a context behind has in its place.
    package final var core: MergePolicy {
        type(of: self) == NSMergePolicy.self ? builtIn : PolicyOfOnesOwn(self, builtIn.mergeType)
    }

    /// What the `mergePolicy` of a context means.
    static func policy(_ any: Any) -> MergePolicy {
        guard let policy = any as? NSMergePolicy else {
            preconditionFailure("a merge policy is an NSMergePolicy, not \(type(of: any))")
        }
        return policy.core
    }

    private struct Shared {
        let error = NSMergePolicy(merge: .errorMergePolicyType)
        let storeTrump = NSMergePolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType)
        let objectTrump = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        let overwrite = NSMergePolicy(merge: .overwriteMergePolicyType)
        let rollback = NSMergePolicy(merge: .rollbackMergePolicyType)
    }

    private nonisolated(unsafe) static let shared = Shared()
    // Policies of this very class have constants only.

    /// The save fails and lists the conflicts. The policy of a new context.
    open class var error: NSMergePolicy { shared.error }
    /// Stored values win, property by property.
    open class var mergeByPropertyStoreTrump: NSMergePolicy { shared.storeTrump }
    /// The context's values win, property by property.
    open class var mergeByPropertyObjectTrump: NSMergePolicy { shared.objectTrump }
    /// What the context has replaces what is stored.
    open class var overwrite: NSMergePolicy { shared.overwrite }
    /// What is stored stays, and changes are dropped.
    open class var rollback: NSMergePolicy { shared.rollback }

    // MARK: Resolving

    /// Resolves all conflicts of a save: those of versions, then those of constraints.
    ///
    /// - Throws: An error that aborts the save.
    open func resolve(mergeConflicts list: [Any]) throws {
        let versions = list.compactMap { $0 as? NSMergeConflict }
        if !versions.isEmpty { try resolve(optimisticLockingConflicts: versions) }
        let constraints = list.compactMap { $0 as? NSConstraintConflict }
        if !constraints.isEmpty { try resolve(constraintConflicts: constraints) }
    }

    /// Resolves conflicts with objects that were changed or deleted elsewhere, in the context.
    ///
    /// - Throws: An error that aborts the save.
    open func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        try withCoreDataErrors(in: list.first?.sourceObject.managedObjectContext) {
            try builtIn.resolve(optimisticLockingConflicts: list.map(\.core))
        }
    }

    /// Resolves conflicts over uniqueness constraints, in the context.
    ///
    /// - Throws: An error that aborts the save.
    open func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        let context = list.lazy.flatMap(\.conflictingObjects).first?.managedObjectContext
        try withCoreDataErrors(in: context) {
            try builtIn.resolve(constraintConflicts: list.map(\.core))
        }
    }
}

/// A policy of Cairn's that asks one of the program's.
private final class PolicyOfOnesOwn: MergePolicy {
    private let policy: NSMergePolicy

    init(_ policy: NSMergePolicy, _ kind: MergePolicyKind) {
        self.policy = policy
        super.init(merge: kind)
    }

    override func resolve(mergeConflicts list: [Any]) throws {
        let conflicts = list.compactMap { conflict -> NSObject? in
            let object =
                (conflict as? MergeConflict)?.sourceObject
                ?? (conflict as? ConstraintConflict)?.conflictingObjects.first
            let context = object.flatMap { NSManagedObjectContext.object($0).managedObjectContext }
            return context.flatMap { facadeConflict(conflict, in: $0) }
        }
        try policy.resolve(mergeConflicts: conflicts)
    }
}

/// The built-in policies, by their numbers.
public enum NSMergePolicyType: UInt, Sendable {
    /// The save fails.
    case errorMergePolicyType = 0
    /// What is stored wins, property by property.
    case mergeByPropertyStoreTrumpMergePolicyType = 1
    /// What the context has wins, property by property.
    case mergeByPropertyObjectTrumpMergePolicyType = 2
    /// The object of the context replaces what is stored.
    case overwriteMergePolicyType = 3
    /// The changes of the context are dropped.
    case rollbackMergePolicyType = 4
}

/// ``NSMergePolicy/error``.
public var NSErrorMergePolicy: AnyObject { NSMergePolicy.error }
/// ``NSMergePolicy/mergeByPropertyStoreTrump``.
public var NSMergeByPropertyStoreTrumpMergePolicy: AnyObject {
    NSMergePolicy.mergeByPropertyStoreTrump
}
/// ``NSMergePolicy/mergeByPropertyObjectTrump``.
public var NSMergeByPropertyObjectTrumpMergePolicy: AnyObject {
    NSMergePolicy.mergeByPropertyObjectTrump
}
/// ``NSMergePolicy/overwrite``.
public var NSOverwriteMergePolicy: AnyObject { NSMergePolicy.overwrite }
/// ``NSMergePolicy/rollback``.
public var NSRollbackMergePolicy: AnyObject { NSMergePolicy.rollback }
