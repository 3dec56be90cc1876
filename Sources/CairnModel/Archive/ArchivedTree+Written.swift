// Archived predicates and expressions in the form in which a model keeps them: as format strings.
//
// A tree can be what no text is, since it may be deeper than the parser goes, and its names may be any texts. What a model
// keeps has to come back when the model is read: that is tried here.

extension ArchivedTree {
    /// An archived predicate whose format string parses back into the same predicate.
    ///
    /// - Throws: `ArchivedTreeError` with the reason why it has no form here, or no format string.
    package static func writtenPredicate(_ archived: ArchivedObject) throws(ArchivedTreeError)
        -> PredicateNode
    {
        let tree = try predicate(archived)
        do throws(PredicateFormatError) {
            guard try PredicateNode(format: tree.predicateFormat) == tree else { throw .another }
        } catch {
            throw unreadable(error)
        }
        return tree
    }

    /// An expression whose format reads back as the same expression.
    ///
    /// - Throws: `ArchivedTreeError` saying why it has no form here, or no text.
    package static func writtenExpression(_ archived: ArchivedObject) throws(ArchivedTreeError)
        -> ExpressionNode
    {
        let tree = try expression(archived)
        do throws(PredicateFormatError) {
            guard try ExpressionNode(format: tree.expressionFormat) == tree else { throw .another }
        } catch {
            throw unreadable(error)
        }
        return tree
    }

    private static func unreadable(_ error: PredicateFormatError) -> ArchivedTreeError {
        ArchivedTreeError(description: "its format could not be parsed: \(error.message)")
    }
}

extension PredicateFormatError {
    fileprivate static var another: PredicateFormatError {
        PredicateFormatError("it would be read back differently")
    }
}
