// class Note: NSManagedObject { override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {…} }
//
// Objects that come from a store are created by the initializer that the module requires of each class. A class with designated
// initializers of its own does not inherit it, so it has to be written beside them: with the body of the class's override, if
// there is one. If there is none, that is written too, or the class would not inherit the others that are required of it.
// Apple's NSManagedObject has no such initializer.

import CairnMacros
import SwiftSyntax

/// Adds the initializer that objects of a store are created by.
struct RequiredInitializerRule: Rule {
    let words = ["init("]

    func examine(_ file: SourceFile, _ context: RuleContext) -> Examination {
        Visitor.examine(file, context)
    }

    private final class Visitor: RuleVisitor {
        override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
            guard context.code.managedClasses.contains(node.name.plainText) else {
                return .visitChildren
            }
            let members = node.memberBlock.members.onLinux
            let initializers = members.compactMap { $0.as(InitializerDeclSyntax.self) }
            let designated = initializers.filter { !$0.modifiers.contains(.convenience) }
            guard !designated.isEmpty, !designated.contains(where: Self.isRequired) else {
                return .visitChildren
            }
            if let own = designated.first(where: Self.isOverride) {
                add(for: node, after: own, body: own, hasOverride: true)
            } else if let stored = members.first(where: Self.needsValue) {
                remark(
                    stored, "a stored property without a value",
                    "objects from a store are created by init(entity:insertInto:), which this class would need",
                    "give the property a value, or write required init(entity: SchemaEntity, insertInto context: ManagedObjectContext?)"
                )
            } else {
                add(
                    for: node, after: designated[designated.count - 1], body: nil,
                    hasOverride: initializers.contains(where: Self.isOverride))
            }
            return .visitChildren
        }

        private static func parameters(_ node: InitializerDeclSyntax) -> [FunctionParameterSyntax] {
            Array(node.signature.parameterClause.parameters)
        }

        private static func labels(_ node: InitializerDeclSyntax) -> [String] {
            parameters(node).map(\.firstName.text)
        }

        private static func isRequired(_ node: InitializerDeclSyntax) -> Bool {
            node.modifiers.contains(.required) && labels(node) == ["entity", "insertInto"]
                && parameters(node)[0].type.lastName == "SchemaEntity"
        }

        private static func isOverride(_ node: InitializerDeclSyntax) -> Bool {
            labels(node) == ["entity", "insertInto"]
                && parameters(node)[0].type.lastName == "NSEntityDescription"
        }

        /// Whether a property must get a value from an initializer.
        private static func needsValue(_ member: DeclSyntax) -> Bool {
            guard let variable = member.as(VariableDeclSyntax.self),
                !variable.modifiers.contains(.static, .class, .lazy),
                !AppleAttributes.everywhere(in: variable.attributes).contains(where: {
                    $0.attributeName.lastName == "NSManaged"
                })
            else { return false }
            let isConstant = variable.bindingSpecifier.tokenKind == .keyword(.let)
            return variable.bindings.contains { binding in
                guard binding.initializer == nil, binding.accessorBlock == nil else { return false }
                let type = binding.typeAnnotation?.type
                let isOptional =
                    type?.is(OptionalTypeSyntax.self) == true
                    || type?.is(ImplicitlyUnwrappedOptionalTypeSyntax.self) == true
                return isConstant || !isOptional
            }
        }

        private func add(
            for type: ClassDeclSyntax, after last: InitializerDeclSyntax,
            body own: InitializerDeclSyntax?, hasOverride: Bool
        ) {
            // Inside an `#if` it must come after that: else another branch would have it, and this one not.
            let anchor =
                last.ancestors.prefix { !$0.is(ClassDeclSyntax.self) }
                .last { $0.is(MemberBlockItemSyntax.self) } ?? Syntax(last)
            let end = file.lineEnd
            let indent = String(
                file.lineStart(before: anchor.bytes.lowerBound).prefix { $0 == " " || $0 == "\t" })
            let access =
                type.modifiers.contains(.open, .public)
                ? "public " : type.modifiers.contains(.package) ? "package " : ""
            let parameters = own.map(Self.parameters) ?? []
            func name(_ index: Int, _ label: String, or usual: String) -> String {
                guard parameters.count > index else { return usual }
                let second = parameters[index].secondName?.text
                return second.map { "\(label) \($0)" } ?? label
            }
            let head =
                "\(access)required init(\(name(0, "entity", or: "entity")): SchemaEntity, \(name(1, "insertInto", or: "insertInto context")): ManagedObjectContext?) "
            let body =
                own?.body.map { file[$0.bytes] }
                ?? "{\(end)\(indent)    super.init(entity: entity, insertInto: context)\(end)\(indent)}"
            var added = [head + body]
            if !hasOverride {
                added.append(
                    "\(access)override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) \(body)"
                )
            }
            let text = added.joined(separator: end + end + indent)
            let lines =
                context.buildsOnApple ? ["#if !canImport(ObjectiveC)", text, "#endif"] : [text]
            result.edits.append(
                .insertion(
                    end + end + indent + lines.joined(separator: end + indent),
                    at: anchor.bytes.upperBound))
        }
    }
}
