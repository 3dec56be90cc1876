// What the rules have to know of a file before any file is rewritten.

import CairnMacros
import SwiftSyntax

/// What a file declares.
struct FileFacts: Sendable {
    /// A class, and what it inherits from.
    struct Class: Sendable {
        let name: String
        let inherited: [String]
        /// What `@objc(Name)` calls it.
        let objectiveCName: String?
    }

    /// A member of an extension that overrides something.
    struct Override: Sendable {
        /// The class that is extended.
        let type: String
        /// The member with the comments above it, and the access that its extension gives it.
        let text: String
        /// The bytes of the member, with what stands before it.
        let range: Range<Int>
        /// The extension, if nothing is left of it.
        let wholeExtension: Range<Int>?
        /// Whether it names something that only its own file can see.
        let usesPrivates: Bool
        /// How it begins, for the report.
        let start: Int
    }

    var classes: [Class] = []
    /// Names of classes, structs, enums, protocols and type aliases.
    var types: Set<String> = []
    /// The names of variables that `@NSManaged` marks, by the type that declares them.
    var managedProperties: [String: Set<String>] = [:]
    /// Names that Objective-C knows otherwise, by type and name: `Note.isDone`.
    var objectiveCNames: [String: String] = [:]
    var overrides: [Override] = []
    var protocols: [ProtocolFacts] = []
    /// What types inherit from and conform to, in their declarations and extensions.
    var conformances: [String: [String]] = [:]
    /// The names of functions with their labels, by the type that has them.
    var functions: [String: Set<String>] = [:]
    /// The types that properties are declared with, by the properties' names; empty for one that is left to the compiler.
    var variables: [String: Set<String>] = [:]
    /// Types that declarations name which are exposed to Objective-C.
    var exposedTypes: Set<String> = []
    /// The names of members that are looked at without a call, and of calls that are compared with nil.
    var askedNames: Set<String> = []

    init(_ file: SourceFile) {
        let visitor = Visitor()
        visitor.walk(file.tree)
        self = visitor.facts
        // A file of the user interface keeps its protocols.
        if ImportSearch.isInterface(file) { protocols = [] }
        let privates = PrivateNames(file.tree).names
        overrides = visitor.extensions.flatMap { Self.overrides(in: $0, file, privates) }
    }

    private init() {}

    private static func overrides(
        in node: ExtensionDeclSyntax, _ file: SourceFile, _ privates: Set<String>
    ) -> [Override] {
        // What holds for some generic arguments only cannot be a member of the class.
        guard node.genericWhereClause == nil else { return [] }
        // A filtered list of syntax would be a tree of its own, with other places.
        let members = Array(node.memberBlock.members)
        let overriding = members.filter { $0.decl.isOverride }
        guard !overriding.isEmpty else { return [] }
        let isAll = overriding.count == members.count && node.inheritanceClause == nil
        let type = node.extendedType.lastName
        return overriding.map { item in
            let decl = item.decl
            let start = item.position.utf8Offset
            let end = item.endPosition.utf8Offset
            var text = file[start..<decl.bytes.lowerBound] + access(of: node, for: decl)
            text += file[decl.bytes.lowerBound..<end]
            while text.hasSuffix(" ") { text.removeLast() }
            return Override(
                type: type, text: text, range: start..<end,
                wholeExtension: isAll
                    ? node.position.utf8Offset..<node.endPosition.utf8Offset : nil,
                usesPrivates: item.tokens(viewMode: .sourceAccurate).contains {
                    privates.contains($0.plainText)
                }, start: decl.bytes.lowerBound)
        }
    }

    /// The access that an extension gives to its members.
    private static func access(of node: ExtensionDeclSyntax, for decl: DeclSyntax) -> String {
        let levels: [Keyword] = [.open, .public, .package, .internal, .fileprivate, .private]
        let modifiers = decl.asProtocol((any WithModifiersSyntax).self)?.modifiers
        guard let modifiers, !levels.contains(where: { modifiers.contains($0) }),
            node.modifiers.contains(.public),
            decl.asProtocol((any WithAttributesSyntax).self)?.attributes.isEmpty == true
        else { return "" }
        return "public "
    }

    private final class Visitor: LinuxVisitor {
        var facts = FileFacts()
        var extensions: [ExtensionDeclSyntax] = []
        private var types: [String] = []

        override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
            let inherited = node.inheritanceClause?.inheritedTypes.map(\.type.lastName) ?? []
            let name = AppleAttributes.everywhere(in: node.attributes)
                .lazy.compactMap(AppleAttributes.objectiveCName).first
            facts.classes.append(
                .init(name: node.name.plainText, inherited: inherited, objectiveCName: name))
            facts.conformances[node.name.plainText, default: []] += inherited
            return enter(node.name.plainText)
        }

        override func visitPost(_ node: ClassDeclSyntax) { types.removeLast() }

        override func visit(_ node: ExtensionDeclSyntax) -> SyntaxVisitorContinueKind {
            extensions.append(node)
            types.append(node.extendedType.lastName)
            facts.conformances[node.extendedType.lastName, default: []] +=
                node.inheritanceClause?.inheritedTypes.map(\.type.lastName) ?? []
            return .visitChildren
        }

        override func visitPost(_ node: ExtensionDeclSyntax) { types.removeLast() }

        override func visit(_ node: StructDeclSyntax) -> SyntaxVisitorContinueKind {
            enter(node.name.plainText)
        }

        override func visitPost(_ node: StructDeclSyntax) { types.removeLast() }

        override func visit(_ node: EnumDeclSyntax) -> SyntaxVisitorContinueKind {
            enter(node.name.plainText)
        }

        override func visitPost(_ node: EnumDeclSyntax) { types.removeLast() }

        override func visit(_ node: ProtocolDeclSyntax) -> SyntaxVisitorContinueKind {
            facts.protocols.append(ProtocolFacts(node))
            return enter(node.name.plainText)
        }

        override func visitPost(_ node: ProtocolDeclSyntax) { types.removeLast() }

        private func note(_ node: VariableDeclSyntax) {
            for binding in node.bindings {
                guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier
                else { continue }
                let type = binding.typeAnnotation?.type
                facts.variables[name.plainText, default: []].insert(
                    type?.unwrapped.trimmedDescription ?? "")
                if let type, AppleAttributes.areExposed(node.attributes) {
                    facts.exposedTypes.formUnion(TypeNames.of(type))
                }
            }
        }

        private func enter(_ name: String) -> SyntaxVisitorContinueKind {
            facts.types.insert(name)
            types.append(name)
            return .visitChildren
        }

        override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
            if let type = types.last, node.parent?.is(MemberBlockItemSyntax.self) == true {
                facts.functions[type, default: []].insert(node.fullName)
                if AppleAttributes.areExposed(node.attributes) {
                    facts.exposedTypes.formUnion(TypeNames.of(node.signature))
                }
            }
            return .visitChildren
        }

        override func visit(_ node: MemberAccessExprSyntax) -> SyntaxVisitorContinueKind {
            if node.base != nil, node.isAskedFor {
                facts.askedNames.insert(node.declName.baseName.plainText)
            }
            return .visitChildren
        }

        override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind {
            guard let type = types.last else { return .visitChildren }
            if node.parent?.is(MemberBlockItemSyntax.self) == true { note(node) }
            let names = node.bindings.compactMap {
                $0.pattern.as(IdentifierPatternSyntax.self)?.identifier.plainText
            }
            for attribute in AppleAttributes.everywhere(in: node.attributes) {
                let isManaged = attribute.attributeName.lastName == "NSManaged"
                if isManaged { facts.managedProperties[type, default: []].formUnion(names) }
                if let name = AppleAttributes.objectiveCName(attribute), names.count == 1 {
                    facts.objectiveCNames["\(type).\(names[0])"] = name
                }
            }
            return .visitChildren
        }
    }
}

extension MemberAccessExprSyntax {
    /// Whether it is not called, or its call is compared with nil.
    fileprivate var isAskedFor: Bool {
        var callee = Syntax(self)
        if let parent = callee.parent, parent.is(OptionalChainingExprSyntax.self) {
            callee = parent
        }
        guard let call = callee.parent?.as(FunctionCallExprSyntax.self),
            Syntax(call.calledExpression) == callee
        else { return true }
        let list = call.parent?.as(ExprListSyntax.self) ?? ExprListSyntax([])
        return list.contains { $0.is(NilLiteralExprSyntax.self) }
    }
}

extension DeclSyntax {
    /// Whether it overrides something.
    var isOverride: Bool {
        asProtocol((any WithModifiersSyntax).self)?.modifiers.contains(.override) ?? false
    }
}
