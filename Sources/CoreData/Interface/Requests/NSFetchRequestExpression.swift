// An expression that fetches, with Core Data's names.
//
// Threads: that of the context which it fetches from.

public import Foundation

/// What a fetch request finds, or how much. Only objects in memory can be asked for it.
open class NSFetchRequestExpression: NSExpression {
    /// What gives the request.
    public let requestExpression: NSExpression
    /// What gives the context.
    public let contextExpression: NSExpression
    /// Whether the number of results is wanted, and not these.
    public let isCountOnlyRequest: Bool

    private init(_ request: NSExpression, _ context: NSExpression, countOnly: Bool) {
        requestExpression = request
        contextExpression = context
        isCountOnlyRequest = countOnly
        super.init(expressionType: NSFetchRequestExpressionType)
    }

    /// What a fetch request finds in a context, or how much.
    open class func expression(
        forFetch fetch: NSExpression, context: NSExpression, countOnly countFlag: Bool
    ) -> NSExpression {
        NSFetchRequestExpression(fetch, context, countOnly: countFlag)
    }

    open override var description: String {
        "FETCH(\(requestExpression), \(contextExpression), \(isCountOnlyRequest ? "TRUE" : "FALSE"))"
    }

    /// The results, or their number. What cannot be fetched ends the program with a sentence.
    open override func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? {
        guard
            let request = requestExpression.expressionValue(with: object, context: context)
                as? any RequestOfObjects,
            let place = contextExpression.expressionValue(with: object, context: context)
                as? NSManagedObjectContext
        else { fatalError("\(self) needs a fetch request and a context") }
        do {
            if isCountOnlyRequest { return NSNumber(value: try place.count(for: request.erased)) }
            return try place.fetch(request.erased) as [Any]
        } catch {
            fatalError("\(self) cannot be fetched: \(error)")
        }
    }
}

/// The kind of an ``NSFetchRequestExpression``.
public let NSFetchRequestExpressionType = NSExpression.ExpressionType.fetchRequest
