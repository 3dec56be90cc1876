// The macros that the compiler asks for by name. What they do is in CairnMacros.

import CairnMacros
import SwiftCompilerPlugin
import SwiftSyntaxMacros

final class EntityMacro: EntityExpansion {}
final class PersistedMacro: PersistedExpansion {}
final class MarkMacro: MarkExpansion {}
final class KeyListMacro: KeyListExpansion {}
final class CompositeMacro: CompositeExpansion {}
final class ManagedMacro: ManagedExpansion {}
final class ManagedAccessorMacro: ManagedAccessorExpansion {}

@main
struct CairnPlugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
        EntityMacro.self, PersistedMacro.self, MarkMacro.self, KeyListMacro.self,
        CompositeMacro.self, ManagedMacro.self, ManagedAccessorMacro.self,
    ]
}
