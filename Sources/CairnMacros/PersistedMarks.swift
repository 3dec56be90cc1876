// The attributes before the persistent properties of a class: `@_Persisted`, with the number of each.
//
// The compiler asks for it member by member, with all of the class each time. The answers about one class are found out together,
// and kept until another class is asked about.
//
// Threads: any; the compiler has one question at a time.

import SwiftSyntax
import Synchronization

/// The attributes of the persistent properties of a class, by name.
struct PersistedMarks: Sendable {
    private let marks: [String: String]

    private struct Known: Sendable {
        let text: String
        let marks: PersistedMarks
    }
    private static let last = Mutex<Known?>(nil)

    private init(_ plan: EntityPlan?) {
        var marks: [String: String] = [:]
        for (number, property) in (plan?.properties ?? []).enumerated() {
            var arguments = ["\(number)"]
            if plan?.isRoot == false { arguments.append("inherits: true") }
            if property.isDerived { arguments.append("readOnly: true") }
            if let transformer = property.transformer {
                arguments.append("transformer: \(transformer)")
            }
            marks[property.name.text] = "_Persisted(\(arguments.joined(separator: ", ")))"
        }
        self.marks = marks
    }

    /// Those of a class; none if it is no entity.
    static func marks(of declaration: some DeclGroupSyntax) -> PersistedMarks {
        let text = declaration.description
        if let known = last.withLock({ $0 }), known.text == text { return known.marks }
        let marks = PersistedMarks(EntityPlan(declaration, reportingTo: nil))
        last.withLock { $0 = Known(text: text, marks: marks) }
        return marks
    }

    /// The attribute of a member, without its at sign; nil if it is no persistent property.
    func mark(of member: VariableDeclSyntax) -> String? {
        // One of the class itself may have the name of a property.
        guard !member.modifiers.contains(.static, .class, .lazy),
            let pattern = member.bindings.first?.pattern.as(IdentifierPatternSyntax.self)
        else { return nil }
        return marks[pattern.identifier.text]
    }
}
