// `@NSManaged`: what Core Data's runtime makes of a property of a managed object's class.
//
//   accessors   read and write by name: which property that is, is found when it is first used
//   a type      nobody uses it; it says at run time which property of which class was declared with which type, so that all of
//               them can be compared with a model before any is used

public import SwiftSyntax
import SwiftSyntaxBuilder
public import SwiftSyntaxMacros

/// Expands `@NSManaged` of the module CoreData.
open class ManagedExpansion: AccessorMacro, PeerMacro {
    /// What is written has its spaces.
    open class var formatMode: FormatMode { .disabled }

    open class func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        // What is wrong the other role says.
        guard let property = ManagedProperty(declaration, of: node, reportingTo: nil) else {
            return []
        }
        var key = "\"\(property.name)\""
        // What can be any value could be read and set in each of the ways for a certain type.
        if property.isOfAnyType, property.primitiveName == nil {
            return [
                AccessorDeclSyntax(.get, "_untyped(\(key))"),
                AccessorDeclSyntax(.set, "_setUntyped(\(key), newValue)"),
            ]
        }
        if let plain = property.primitiveName { key += ", primitive: \"\(plain)\"" }
        return [
            AccessorDeclSyntax(.get, "_get(\(key))"),
            AccessorDeclSyntax(.set, "_set(\(key), newValue)"),
        ]
    }

    open class func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let property = ManagedProperty(declaration, of: node, reportingTo: context),
            let owner = context.managedClass(node)
        else { return [] }
        let name = property.primitiveName ?? property.name
        let label = property.primitiveName == nil ? "" : "primitive: "
        return [
            context.declaration("\(owner).self, \(label)\"\(name)\", (\(property.type)).self")
        ]
    }
}

/// What `@NSManaged` stands before.
private struct ManagedProperty {
    let name: String
    /// As it is written; of `T!` the optional.
    let type: String
    /// Whether the type is a protocol, or `Any`.
    let isOfAnyType: Bool

    private static let protocols: Set<String> = [
        "Any", "AnyObject", "NSCoding", "NSCopying", "NSObjectProtocol", "NSSecureCoding",
    ]

    /// Says what is wrong if it is to report.
    init?(
        _ declaration: some DeclSyntaxProtocol, of node: AttributeSyntax,
        reportingTo context: (any MacroExpansionContext)?
    ) {
        guard let variable = declaration.as(VariableDeclSyntax.self),
            let binding = variable.bindings.first
        else {
            context?.report(.managedVariable, at: node)
            return nil
        }
        if variable.isConstant {
            context?.report(.managedConstant, at: variable.bindingSpecifier)
            return nil
        }
        if variable.modifiers.contains(.static, .class) {
            context?.report(.managedOfType, at: node)
            return nil
        }
        guard let identifier = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else {
            context?.report(.pattern, at: binding.pattern)
            return nil
        }
        if let value = binding.initializer {
            context?.report(.managedValue, at: value)
            return nil
        }
        if let block = binding.accessorBlock {
            context?.report(.managedGetter, at: block)
            return nil
        }
        guard let type = binding.typeAnnotation?.type else {
            context?.report(.managedType(identifier.text), at: binding.pattern)
            return nil
        }
        name = identifier.plainText
        if let unwrapped = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
            self.type = "\(unwrapped.wrappedType.trimmed)?"
        } else {
            self.type = type.trimmedDescription
        }
        let words = self.type.split { "()?! ".contains($0) }
        isOfAnyType =
            words.first == "any" || words.count == 1 && Self.protocols.contains(String(words[0]))
    }

    /// The property whose value this one is without anybody being told: `date` for `primitiveDate`.
    var primitiveName: String? {
        let head = "primitive"
        guard name.hasPrefix(head), let first = name.dropFirst(head.count).first, first.isUppercase
        else { return nil }
        return String(name.dropFirst(head.count)).decapitalized
    }
}

extension String {
    /// The word as it is where it stands alone: `tags` for `Tags`.
    var decapitalized: String { prefix(1).lowercased() + dropFirst() }
}

extension MacroExpansionContext {
    /// The class around, as it is written; says that there is none.
    func managedClass(_ node: AttributeSyntax) -> String? {
        for syntax in lexicalContext {
            if let type = syntax.as(ClassDeclSyntax.self) { return type.name.text }
            if let type = syntax.as(ExtensionDeclSyntax.self) {
                return type.extendedType.trimmedDescription
            }
            if syntax.asProtocol((any DeclGroupSyntax).self) != nil { break }
        }
        report(.unmanaged(node.name), at: node)
        return nil
    }

    /// A type that says at run time what was declared.
    ///
    /// - Parameter discriminator: what tells the declaration from others of its name.
    func declaration(_ arguments: String, discriminator: String = "") -> DeclSyntax {
        let words = discriminator.filter { $0.isLetter || $0.isNumber }
        return """
            enum \(makeUniqueName("managed\(words)")): CoreData._ManagedDeclaration {
                public static var _declared: CoreData._ManagedProperty { CoreData._ManagedProperty(\(raw: arguments)) }
            }
            """
    }
}
