// The functions for members of to-many relationships that Xcode declares: what their names and parameters say.

package import SwiftSyntax

/// What a function for members does.
package struct MemberAccessor {
    /// The relationship.
    package let key: String
    /// What the body calls.
    package let call: String
    /// The type of what is added or removed.
    package let type: String
    /// Whether members have places.
    package let isOrdered: Bool

    /// What a function does; nil if neither its name nor its parameters say so.
    package init?(_ function: FunctionDeclSyntax) {
        let parameters = Array(function.signature.parameterClause.parameters)
        let labels = parameters.map {
            $0.firstName.tokenKind == .wildcard ? "_" : $0.firstName.text
        }
        guard function.signature.returnClause == nil,
            let (verb, key) = Self.split(function.name.plainText, labels)
        else { return nil }
        let values = zip(labels, parameters).map { label, parameter in
            (label == "_" ? "" : "\(label): ") + (parameter.secondName ?? parameter.firstName).text
        }
        self.key = key
        call = "_\(verb)(\"\(key)\", \(values.joined(separator: ", ")))"
        isOrdered = labels != ["_"]
        let member = zip(labels, parameters).first { $0.0 != "at" }?.1
        type = member?.type.trimmedDescription ?? "NSOrderedSet"
    }

    /// What is done, and the relationship.
    private static func split(_ name: String, _ labels: [String]) -> (verb: String, key: String)? {
        func key(_ head: String, _ tail: String = "") -> String? {
            guard name.hasPrefix(head), name.hasSuffix(tail),
                name.count > head.count + tail.count
            else { return nil }
            let key = name.dropFirst(head.count).dropLast(tail.count)
            return key.first?.isUppercase == true ? String(key).decapitalized : nil
        }
        switch labels {
        case ["_"]:
            let added = key("addTo") ?? key("add", "Object") ?? key("add")
            if let added { return ("add", added) }
            let removed = key("removeFrom") ?? key("remove", "Object") ?? key("remove")
            return removed.map { ("remove", $0) }
        case ["at"]: return key("removeFrom").map { ("remove", $0) }
        case ["_", "at"]: return key("insertInto").map { ("insert", $0) }
        case ["at", "with"]: return key("replace").map { ("replace", $0) }
        default: return nil
        }
    }
}
