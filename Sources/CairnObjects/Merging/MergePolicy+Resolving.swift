// How a built-in policy resolves conflicts, in the contexts that they are about.

import CairnStore

extension MergePolicy {
    /// Resolves conflicts with objects that somebody else has changed or deleted.
    final func resolveVersions(_ list: [MergeConflict]) throws {
        if mergeType == .declared {
            // What cannot be put together leaves all as it is.
            for conflict in list { try conflict.context.checkDeclared(conflict) }
        }
        var cascades: (context: ManagedObjectContext, known: ManagedObjectContext.Cascades?)?
        for conflict in list {
            let context = conflict.context
            var known = cascades?.context === context ? cascades?.known : nil
            try context.resolve(conflict, by: self, &known)
            cascades = (context, known)
        }
    }

    /// Resolves conflicts over uniqueness constraints.
    final func resolveConstraints(_ list: [ConstraintConflict]) throws {
        for context in Set(list.map { ObjectIdentifier($0.context) }) {
            let own = list.filter { ObjectIdentifier($0.context) == context }
            try own[0].context.resolve(own, by: self)
        }
    }
}
