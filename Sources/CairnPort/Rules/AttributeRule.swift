// @objc(Note) @NSManaged
//
//   1. @objc and @objcMembers do not compile without the Objective-C runtime, and mean nothing there.
//   2. A plain @NSManaged compiles and leaves a symbol that nobody defines. The macros of the module are found by their full
//      names: @CoreData.NSManaged for variables, @CoreData.NSManagedAccessor for functions.
//   3. Apple's compilers know no macro of these names. What is to compile there as well has both in an `#if`, which attributes
//      may stand in since Swift 5.8: the declaration itself is not written twice.
//   4. In a file of the user interface, which Linux does not compile, only managed classes are touched.

import CairnMacros
import SwiftSyntax

/// Replaces attributes that need the Objective-C runtime.
struct AttributeRule: Rule {
    let words = ["@objc", "@NSManaged"]

    func examine(_ file: SourceFile, _ context: RuleContext) -> Examination {
        Visitor.examine(file, context)
    }

    private final class Visitor: RuleVisitor {
        override func visit(_ node: AttributeListSyntax) -> SyntaxVisitorContinueKind {
            let attributes = AppleAttributes.all(in: node)
            guard let declaration = node.parent, !attributes.isEmpty, isForLinux(declaration)
            else { return .visitChildren }
            let managed = attributes.first { $0.attributeName.trimmedDescription == "NSManaged" }
            if managed != nil, let function = declaration.as(FunctionDeclSyntax.self),
                !isAccessor(function)
            {
                return .visitChildren
            }
            let macro = managed.map { _ in
                declaration.is(FunctionDeclSyntax.self)
                    ? "@CoreData.NSManagedAccessor" : "@CoreData.NSManaged"
            }
            if context.buildsOnApple {
                branch(attributes, of: node, macro)
            } else {
                for attribute in attributes {
                    replace(attribute, by: attribute == managed ? macro : nil)
                }
            }
            return .visitChildren
        }

        private func isForLinux(_ declaration: Syntax) -> Bool {
            guard context.isInterface else { return true }
            if let type = declaration.as(ClassDeclSyntax.self),
                context.code.managedClasses.contains(type.name.plainText)
            {
                return true
            }
            if let type = declaration.as(ExtensionDeclSyntax.self),
                context.code.managedClasses.contains(type.extendedType.lastName)
            {
                return true
            }
            return Surroundings(of: declaration).areManaged(in: context.code)
        }

        /// The first attribute becomes the `#if`, and the others go.
        private func branch(
            _ attributes: [AttributeSyntax], of list: AttributeListSyntax, _ macro: String?
        ) {
            let start = list.bytes.lowerBound
            let apple = attributes.map(\.trimmedDescription).joined(separator: " ")
            let branches = PlatformBranches(file, at: start)
            let text = branches.text(apple: apple, linux: macro)
            let before = start - branches.blanksBefore
            if attributes[0].bytes.lowerBound == start {
                result.edits.append(SourceEdit(before..<file.nextWord(after: attributes[0]), text))
            } else {
                result.edits.append(SourceEdit(before..<start, text))
                replace(attributes[0], by: nil)
            }
            for attribute in attributes.dropFirst() { replace(attribute, by: nil) }
        }

        private func replace(_ attribute: AttributeSyntax, by text: String?) {
            let bytes = attribute.bytes
            let range = text == nil ? bytes.lowerBound..<file.nextWord(after: attribute) : bytes
            result.edits.append(SourceEdit(range, text ?? ""))
        }

        /// Whether the name of a function says what it does to which relationship: that is what the macro reads.
        private func isAccessor(_ function: FunctionDeclSyntax) -> Bool {
            if MemberAccessor(function) != nil { return true }
            remark(
                function.name, "@NSManaged func \(function.name.plainText)",
                "only accessors with the names that Xcode generates get a body: addTo…, removeFrom…, insertInto…, replace…",
                "rename it, or write its body with primitiveValue(forKey:) or mutableSetValue(forKey:)"
            )
            return false
        }
    }
}
