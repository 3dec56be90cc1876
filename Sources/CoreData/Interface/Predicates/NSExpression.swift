// An expression with Core Data's names. Foundation on Linux has a class of that name, of which nothing can be made.
//
//   Making        in NSExpression+Making: one initializer for each kind
//   Parts         in NSExpression+Parts: what it is made of
//
// Threads: expressions do not change; any.

package import CairnModel
import CairnStore
public import Foundation

/// An expression: a value, or what gives one for each object.
open class NSExpression: NSObject, NSCopying {
    /// What kind it is.
    public let expressionType: ExpressionType
    /// The expression as a tree; an error if there is something in it that no store can be asked.
    let content: Result<ExpressionNode, StoreError>
    /// What a program has given that the tree does not have as it was: a constant, a predicate, a closure.
    let given: Any?
    /// Objects that it names whose ids will change.
    let unsaved: UnsavedObjects

    /// An expression for a subclass, which says itself what it gives.
    public init(expressionType type: ExpressionType) {
        expressionType = type
        given = nil
        unsaved = UnsavedObjects()
        content = .failure(
            StoreError(
                .invalidRequest, "a store cannot be asked for an expression of a program's own"))
    }

    init(
        _ type: ExpressionType, _ content: Result<ExpressionNode, StoreError>, given: Any? = nil,
        _ unsaved: UnsavedObjects = UnsavedObjects()
    ) {
        expressionType = type
        self.content = content
        self.given = given
        self.unsaved = unsaved
    }

    convenience init(_ node: ExpressionNode, _ unsaved: UnsavedObjects = UnsavedObjects()) {
        self.init(node.type, .success(node), unsaved)
    }

    /// The tree.
    ///
    /// - Throws: `StoreError` with `.invalidRequest` if there is something in it that no store can be asked.
    package var node: ExpressionNode {
        get throws(StoreError) { unsaved.renewed(try content.get()) }
    }

    open override var description: String {
        // Core Data tells a null that a program has given from nil.
        if given is NSNull { return "<null>" }
        guard let node = try? node else { return given.map { "\($0)" } ?? "BLOCK" }
        return node.format(.coreData)
    }

    open func copy(with zone: NSZone? = nil) -> Any { self }

    open override func isEqual(_ other: Any?) -> Bool {
        guard let other = other as? NSExpression else { return false }
        guard let node = try? node else { return other === self }
        return (try? other.node) == node
    }

    open override var hash: Int {
        guard let node = try? node else { return ObjectIdentifier(self).hashValue }
        return node.hashValue
    }

    /// What the expression gives for an object.
    ///
    /// - Parameter context: the values of variables.
    open func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? {
        switch given {
        case let block as Block:
            return block.body(object, block.arguments, context)
        case let given? where expressionType == .constantValue: return given
        default: break
        }
        guard let value = EvaluatedValue(any: object) else {
            fatalError("\(self) cannot be asked of a \(object.map { "\(type(of: $0))" } ?? "nil")")
        }
        var variables: [String: EvaluatedValue] = [:]
        for (name, value) in context ?? [:] {
            if let name = name as? String { variables[name] = EvaluatedValue(any: value) }
        }
        do {
            let result = try ExpressionEvaluator(try node).value(for: value, variables: variables)
            return result.any(in: (object as? NSManagedObject)?.coordinator)
        } catch let error as PredicateFormatError {
            fatalError("\(self): \(error.message)")
        } catch {
            fatalError("\(self): \(error)")
        }
    }

    /// The expression, or, if it has something in it that only objects can be asked, what it gives.
    func evaluated(with object: Any?, _ context: NSMutableDictionary) -> NSExpression {
        if case .success = content { return self }
        return NSExpression(forConstantValue: expressionValue(with: object, context: context))
    }

    /// A closure and its arguments.
    struct Block {
        let body: (Any?, [NSExpression], NSMutableDictionary?) -> Any
        let arguments: [NSExpression]
    }

    /// The kinds of expressions, with the numbers that they have on Apple's platforms.
    public enum ExpressionType: UInt, Sendable {
        /// A value.
        case constantValue = 0
        /// The object that is asked about.
        case evaluatedObject = 1
        /// The value of a variable.
        case variable = 2
        /// What a key path leads to.
        case keyPath = 3
        /// A function with its arguments.
        case function = 4
        /// What is in one of two collections.
        case unionSet = 5
        /// What is in both of two collections.
        case intersectSet = 6
        /// What is in one collection and not in the other.
        case minusSet = 7
        /// The members of a collection that meet a condition.
        case subquery = 13
        /// Several expressions.
        case aggregate = 14
        /// The values of all attributes.
        case anyKey = 15
        /// A closure.
        case block = 19
        /// One of two expressions, as a condition says.
        case conditional = 20
        /// What a fetch request finds.
        case fetchRequest = 50
    }
}

extension NSManagedObject {
    /// The stores that the object is from.
    var coordinator: NSPersistentStoreCoordinator? {
        managedObjectContext?.persistentStoreCoordinator
    }
}

extension ExpressionNode {
    /// What kind it is.
    fileprivate var type: NSExpression.ExpressionType {
        switch self {
        case .constant, .list: .constantValue
        case .evaluatedObject: .evaluatedObject
        case .keyPath: .keyPath
        case .variable, .assignment: .variable
        case .anyKey: .anyKey
        case .collection: flatPath == nil ? .function : .keyPath
        case .path, .index, .function, .call, .cast: .function
        case .conditional: .conditional
        case .subquery: .subquery
        case .set(.union, _, _): .unionSet
        case .set(.intersect, _, _): .intersectSet
        case .set(.minus, _, _): .minusSet
        case .aggregate: .aggregate
        case .fetch: .fetchRequest
        }
    }

    /// The whole as one key path with collection operators in it; nil if it begins elsewhere than at the object.
    var flatPath: String? {
        switch self {
        case .evaluatedObject: return ""
        case .keyPath(let path): return path
        case .collection(let operation, let base, let path):
            guard let base = base.flatPath else { return nil }
            return (base.isEmpty ? "" : base + ".") + "@\(operation.rawValue)"
                + (path.map { ".\($0)" } ?? "")
        default: return nil
        }
    }
}
