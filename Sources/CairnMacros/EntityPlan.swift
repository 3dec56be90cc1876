// What an entity class declares: read from its syntax alone, because macros do not see types.
//
// Numbers: the class's own persistent properties count from 0 in the order of the text; those of the class it
// inherits from come before, which the generated code adds. Every role of the macro reads the class anew and
// must find the same.

import SwiftSyntax
import SwiftSyntaxMacros

/// An entity class.
struct EntityPlan {
    let declaration: ClassDeclSyntax
    let superclass: TypeSyntax
    /// By number.
    let properties: [PropertyPlan]
    /// The numbers of the properties that the class has a `validate…` method for.
    let validated: [Int]
    /// Whether the class overrides `validateValue(_:forKey:)`.
    let overridesValidation: Bool
    /// Whether the class overrides `validateForInsert()` or `validateForUpdate()`.
    let validatesObjects: Bool

    var className: String { declaration.name.text }
    var access: String {
        let access = declaration.modifiers.access()
        return access.hasSuffix("private ") ? "" : access
    }

    /// Whether the class inherits from ManagedObject itself, so that its numbers start at 0.
    var isRoot: Bool { superclass.lastName == "ManagedObject" }

    /// Reads a class; nil if it cannot be an entity. Says why if it is to report.
    init?(_ group: some DeclGroupSyntax, reportingTo context: (any MacroExpansionContext)?) {
        guard let declaration = group.as(ClassDeclSyntax.self) else {
            let keyword: any SyntaxProtocol =
                group.as(StructDeclSyntax.self)?.structKeyword
                ?? group.as(EnumDeclSyntax.self)?.enumKeyword
                ?? group.as(ActorDeclSyntax.self)?.actorKeyword
                ?? group.as(ExtensionDeclSyntax.self)?.extensionKeyword ?? group
            context?.report(.notAClass, at: Syntax(keyword))
            return nil
        }
        guard let superclass = declaration.inheritanceClause?.inheritedTypes.first?.type else {
            context?.report(.noSuperclass, at: declaration.name)
            return nil
        }
        if let clause = declaration.genericParameterClause {
            context?.report(.genericClass, at: clause)
            return nil
        }
        for case .attribute(let attribute) in declaration.attributes
        where attribute.name.hasSuffix("Actor") {
            context?.report(.globalActor(attribute.name), at: attribute)
            return nil
        }
        self.declaration = declaration
        self.superclass = superclass.trimmed
        var properties: [PropertyPlan] = []
        for member in declaration.memberBlock.members {
            if let variable = member.decl.as(VariableDeclSyntax.self) {
                if let property = PropertyPlan(variable, reportingTo: context) {
                    properties.append(property)
                }
            } else if let context {
                Self.check(member.decl, context)
            }
        }
        self.properties = properties
        let members = declaration.memberBlock.members
        let names = Set(
            members.compactMap { $0.decl.as(FunctionDeclSyntax.self)?.validatedName })
        validated = properties.indices.filter {
            names.contains(properties[$0].validatorName) && !properties[$0].isDerived
        }
        let overrides = Set(
            Self.methods(of: members).filter { $0.modifiers.contains(.override) }.map(\.name.text))
        overridesValidation = overrides.contains("validateValue")
        validatesObjects = !overrides.isDisjoint(with: ["validateForInsert", "validateForUpdate"])
    }

    /// The methods in the class's body, also those inside `#if`.
    private static func methods(of members: MemberBlockItemListSyntax) -> [FunctionDeclSyntax] {
        members.flatMap { member -> [FunctionDeclSyntax] in
            if let method = member.decl.as(FunctionDeclSyntax.self) { return [method] }
            guard let conditional = member.decl.as(IfConfigDeclSyntax.self) else { return [] }
            return conditional.clauses.flatMap { clause in
                guard case .decls(let members) = clause.elements else {
                    return [FunctionDeclSyntax]()
                }
                return methods(of: members)
            }
        }
    }

    /// Reports members that an entity cannot have.
    private static func check(_ member: DeclSyntax, _ context: any MacroExpansionContext) {
        if let initializer = member.as(InitializerDeclSyntax.self) {
            let labels = initializer.signature.parameterClause.parameters.map(\.firstName.text)
            let isKnown = labels == ["entity", "insertInto"] || labels == ["context"]
            if !initializer.modifiers.contains(.convenience), !isKnown {
                context.report(.designatedInit, at: initializer.initKeyword)
            }
        } else if let conditional = member.as(IfConfigDeclSyntax.self) {
            for clause in conditional.clauses {
                guard case .decls(let members) = clause.elements else { continue }
                for member in members {
                    if let method = member.decl.as(FunctionDeclSyntax.self),
                        method.validatedName != nil
                    {
                        context.report(.conditionalValidation, at: method.name)
                    }
                    guard let variable = member.decl.as(VariableDeclSyntax.self),
                        PropertyPlan(variable, reportingTo: nil) != nil
                    else { continue }
                    context.report(.conditional, at: variable.bindings)
                }
            }
        }
    }
}
