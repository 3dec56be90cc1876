// The expression that a function by its name is: a call, a cast or an index.

/// What is wrong with a function and its arguments, as a sentence.
package struct FunctionError: Error {
    package let message: String
}

extension ExpressionNode {
    /// A function by its name, with or without colons, applied to arguments.
    package static func function(named name: String, _ arguments: [ExpressionNode])
        throws(FunctionError) -> ExpressionNode
    {
        switch name.lowercased() {
        case "castobject:totype:": return try cast(arguments)
        case "objectfrom:withindex:" where arguments.count == 2:
            return .index(of: arguments[0], .at(arguments[1]))
        default: break
        }
        guard let function = Function(name: name, argumentCount: arguments.count) else {
            let similar = Function.similar(to: name)
            let hint = similar.map { "; did you mean \($0.rawValue)?" } ?? ""
            throw FunctionError(message: "unknown function \(name)\(hint)")
        }
        guard function.arity.contains(arguments.count) else {
            let needed = function.arity.lowerBound
            throw FunctionError(
                message:
                    "\(function.rawValue) needs \(needed) argument\(needed == 1 ? "" : "s"), but there are \(arguments.count)"
            )
        }
        return .function(function, arguments)
    }

    private static func cast(_ arguments: [ExpressionNode]) throws(FunctionError) -> ExpressionNode
    {
        guard arguments.count == 2, case .constant(.string(let name)) = arguments[1],
            let type = CastType(name: name)
        else {
            throw FunctionError(
                message: "castObject:toType: needs a value and the name of a type")
        }
        if case .constant(let value) = arguments[0], let constant = value.literalCast(to: type) {
            return .constant(constant)
        }
        return .cast(arguments[0], to: type)
    }
}
