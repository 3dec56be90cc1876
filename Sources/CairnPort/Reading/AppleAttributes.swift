// The attributes that only a compiler with the Objective-C runtime accepts as they are.

import CairnMacros
import SwiftSyntax

/// `@objc`, `@objcMembers` and `@NSManaged`.
enum AppleAttributes {
    private static let names: Set<String> = ["objc", "objcMembers", "NSManaged"]

    /// Those directly in a list, and not in an `#if`.
    static func all(in list: AttributeListSyntax) -> [AttributeSyntax] {
        list.compactMap { element in
            guard case .attribute(let attribute) = element,
                names.contains(attribute.attributeName.trimmedDescription)
            else { return nil }
            return attribute
        }
    }

    /// All attributes of a list, also those in an `#if`, on whatever platform.
    static func everywhere(in list: AttributeListSyntax) -> [AttributeSyntax] {
        list.flatMap { element -> [AttributeSyntax] in
            switch element {
            case .attribute(let attribute): return [attribute]
            case .ifConfigDecl(let node):
                return node.clauses.flatMap { clause -> [AttributeSyntax] in
                    guard case .attributes(let inner)? = clause.elements else { return [] }
                    return everywhere(in: inner)
                }
            }
        }
    }

    /// Whether a list has `@objc`, on whatever platform.
    static func isObjectiveC(_ list: AttributeListSyntax) -> Bool {
        everywhere(in: list).contains { $0.attributeName.trimmedDescription == "objc" }
    }

    /// Whether a list exposes what it marks to Objective-C.
    static func areExposed(_ list: AttributeListSyntax) -> Bool {
        let exposing = ["objc", "NSManaged", "IBOutlet", "IBAction", "IBInspectable"]
        return everywhere(in: list).contains {
            exposing.contains($0.attributeName.trimmedDescription)
        }
    }

    /// The name that `@objc(Name)` gives.
    static func objectiveCName(_ attribute: AttributeSyntax) -> String? {
        guard attribute.attributeName.trimmedDescription == "objc",
            let arguments = attribute.arguments
        else { return nil }
        return arguments.trimmedDescription
    }
}
