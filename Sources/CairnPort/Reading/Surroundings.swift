// The types that a piece of code stands in.

import CairnMacros
import SwiftSyntax

/// What surrounds a node.
struct Surroundings {
    /// The types around the node, the nearest first.
    let types: [String]

    init(of node: some SyntaxProtocol) {
        types = node.ancestors.compactMap { ancestor in
            if let type = ancestor.as(ExtensionDeclSyntax.self) {
                return type.extendedType.lastName
            }
            if let type = ancestor.as(ClassDeclSyntax.self) { return type.name.plainText }
            if let type = ancestor.as(StructDeclSyntax.self) { return type.name.plainText }
            if let type = ancestor.as(EnumDeclSyntax.self) { return type.name.plainText }
            if let type = ancestor.as(ProtocolDeclSyntax.self) { return type.name.plainText }
            return nil
        }
    }

    /// Whether the node belongs to a managed class or an extension of one.
    func areManaged(in code: KnownCode) -> Bool {
        types.contains(where: code.managedClasses.contains)
    }
}
