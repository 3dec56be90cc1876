// A value that a request computes, with Core Data's names.

import CairnModel
public import Foundation

/// A value that a request for dictionaries computes, or that an index is built over. Entities have none.
open class NSExpressionDescription: NSPropertyDescription, @unchecked Sendable {
    // It is used by one thread at a time, as the request that has it.

    /// What is computed.
    open var expression: NSExpression? { willSet { willChange() } }
    /// The type of the result.
    open var resultType = NSAttributeDescription.AttributeType.undefined {
        willSet { willChange() }
    }

    /// A value without a name and an expression.
    public override init() { super.init() }

    /// The type of the result.
    open var expressionResultType: NSAttributeType {
        get { resultType.legacy }
        set { resultType = NSAttributeDescription.AttributeType(newValue) }
    }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSExpressionDescription()
        copy.name = name
        copy.expression = expression
        copy.resultType = resultType
        copy.takeRest(of: self)
        return copy
    }

    override var identity: AnyHashable { [name, expression?.description ?? ""] }
}
