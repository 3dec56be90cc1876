// Values by key path: along to-one relationships, gathered across to-many ones, and what a collection operator makes of
// them.
//
//   1. The longest beginning of a path that is a property is the first step: names of composite leaves have points.
//   2. A step across a to-many relationship goes on from every member; what they lead to is one array, nils left out.
//   3. An operator takes what is before it member by member, and from each the path behind it, which may have operators
//      of its own: "departments.@max.employees.@count".
//
// A key that an object does not have is a mistake of the program and traps with a sentence.

import CairnModel
public import CairnStore

extension ManagedObjectMembers where Self: ManagedObject {
    /// The value at a key path.
    ///
    /// ```swift
    /// product.value(forKeyPath: "shop.name")              // along a to-one relationship: nil if there is no shop
    /// shop.value(forKeyPath: "products.price")            // [Any]: the prices that there are
    /// shop.value(forKeyPath: "products.@avg.price")       // one value of many
    /// shop.value(forKeyPath: "products.tags.@distinctUnionOfObjects.label")
    /// ```
    ///
    /// A path with a single key, or one that ends in a to-many relationship of a single object, returns the same as
    /// ``value(forKey:)``. Values collected across a to-many relationship are returned as an array, in the order of its
    /// members, including repeated values and objects.
    ///
    /// Operators are `@count`, `@sum`, `@avg`, `@min` and `@max`, which ignore nils, and `@unionOfObjects` and
    /// `@distinctUnionOfObjects` with their variants for arrays and sets, which are the same here. Without numbers, the
    /// sum is 0 and the others are nil.
    ///
    /// - Complexity: O(n) in the objects on the way; faults are fired.
    public func value(forKeyPath path: String) -> Any? {
        if hasProperty(path) { return value(forKey: path) }
        return value(along: path.split(separator: ".", omittingEmptySubsequences: false)[...])
    }

    /// Sets the property at the end of a path along to-one relationships. Does nothing if one of these is nil.
    ///
    /// - Throws: `StoreError` as ``setValue(_:forKey:)``; `.invalidRequest` if the path does not exist, or crosses a
    ///   to-many relationship. In that case nothing is set.
    public func setValue(_ value: Any?, forKeyPath path: String) throws(StoreError) {
        if hasProperty(path) { return try setValue(value, forKey: path) }
        var end = path.startIndex
        while let dot = path[end...].firstIndex(of: ".") {
            let key = String(path[..<dot])
            if let index = entity.relationshipIndex(named: key) {
                if entity.relationships[index].description.isToMany {
                    throw StoreError(
                        .invalidRequest,
                        "the relationship is to-many: set the value on one of its objects",
                        context: .init(entity: entity.name, key: key, objectID: objectID))
                }
                try (self.value(forKey: key) as? ManagedObject)?
                    .setValue(value, forKeyPath: String(path[path.index(after: dot)...]))
                return
            }
            end = path.index(after: dot)
        }
        // Says that there is no such property, unless it is an element of a composite one.
        try setValue(value, forKey: path)
    }

    /// The values of properties, by key; nil where one has none.
    public func dictionaryWithValues(forKeys keys: [String]) -> [String: Any?] {
        var values: [String: Any?] = [:]
        for key in keys { values.updateValue(value(forKey: key), forKey: key) }
        return values
    }
}

extension ManagedObject {
    /// Whether a path can be followed from here: whether it begins with a property.
    final func isKeyPath(_ path: String) -> Bool {
        let first = path.prefix { $0 != "." }
        return hasProperty(path) || hasProperty(String(first)) || first == "objectID"
            || first == "self"
            || path.indices.contains { path[$0] == "." && hasProperty(String(path[..<$0])) }
    }

    private func unknownPath(_ path: String) -> Never {
        preconditionFailure("the entity \(entity.name) has no property at the start of \(path)")
    }

    // MARK: Steps

    fileprivate func value(along path: ArraySlice<Substring>) -> Any? {
        let names = path.prefix { !$0.hasPrefix("@") }
        for count in stride(from: names.count, to: 0, by: -1) {
            let key = names.prefix(count).joined(separator: ".")
            guard hasProperty(key) else { continue }
            let rest = path.dropFirst(count)
            if !rest.isEmpty, let index = entity.relationshipIndex(named: key),
                entity.relationships[index].description.isToMany
            {
                let members = managedObjectContext?.members(of: self, index) ?? []
                return Self.follow(members, rest)
            }
            return Self.follow(value(forKey: key), rest)
        }
        if names.first == "objectID" { return Self.follow(objectID, path.dropFirst()) }
        if names.first == "self" { return Self.follow(self, path.dropFirst()) }
        unknownPath(path.joined(separator: "."))
    }

    private static func follow(_ value: Any?, _ path: ArraySlice<Substring>) -> Any? {
        if path.isEmpty { return value }
        // An operator takes all that is gathered before it, not what each member has.
        if let place = path.firstIndex(where: { $0.hasPrefix("@") }) {
            return collect(follow(value, path[..<place]), path[place...])
        }
        switch value {
        case nil: return nil
        case let object as ManagedObject: return object.value(along: path)
        case let members as [Any]: return members.flatMap { elements(follow($0, path)) }
        default:
            preconditionFailure(
                "\(path.joined(separator: ".")) follows a value that has no properties")
        }
    }

    /// The members of what is a collection; of a single value that alone.
    private static func elements(_ value: Any?) -> [Any] {
        switch value {
        case nil: []
        case let members as [Any]: members
        case let members as Set<ManagedObject>:
            members.sorted {
                ($0.hasTemporaryID ? 1 : 0, $0.reference)
                    < ($1.hasTemporaryID ? 1 : 0, $1.reference)
            }
        case let value?: [value]
        }
    }

    /// What the operator at the start of a path makes of members.
    private static func collect(_ value: Any?, _ path: ArraySlice<Substring>) -> Any? {
        let name = path.first?.dropFirst() ?? ""
        guard let operation = ExpressionNode.CollectionOperator(rawValue: String(name)) else {
            preconditionFailure("there is no collection operator @\(name)")
        }
        let rest = path.dropFirst()
        precondition(
            operation != .count || rest.isEmpty, "@count is a number: the key path cannot continue")
        precondition(
            operation == .count || !rest.isEmpty, "@\(name) needs a key path after it")
        guard let value else { return nil }
        precondition(
            value is [Any] || value is Set<ManagedObject>,
            "@\(name) needs a to-many relationship before it")
        let parts = elements(value).flatMap { elements(follow($0, rest)) }
        let whole = ExpressionNode.collection(operation, of: .evaluatedObject, path: nil)
        guard let evaluator = try? ExpressionEvaluator(whole) else {
            preconditionFailure("an operator alone is an expression")
        }
        return any(evaluator.value(for: .collection(parts.compactMap(evaluated))))
    }

    private static func evaluated(_ part: Any) -> EvaluatedValue? {
        if let object = part as? ManagedObject { return .object(object) }
        return Value(any: part).map { .value($0) }
    }

    private static func any(_ value: EvaluatedValue) -> Any? {
        switch value {
        case .value(let value): value.any
        case .object(let object): object as? ManagedObject
        case .keyed(let values): values
        case .collection(let members): members.compactMap { any($0) }
        }
    }
}
