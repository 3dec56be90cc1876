// The diagnostics of macros.

import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// A diagnostic for code that a macro cannot accept.
struct Misuse: DiagnosticMessage {
    let message: String
    let diagnosticID: MessageID
    let severity = DiagnosticSeverity.error

    init(_ id: String, _ message: String) {
        self.message = message
        diagnosticID = MessageID(domain: "Cairn", id: id)
    }
}

extension Misuse {
    static let notAClass = Misuse("notAClass", "an entity must be a class: write 'final class'")
    static let noSuperclass = Misuse(
        "noSuperclass", "an entity must inherit from ManagedObject or from another entity")
    static let genericClass = Misuse(
        "genericClass", "an entity cannot be generic: the store has one entity of that name")
    static func globalActor(_ name: String) -> Misuse {
        Misuse(
            "globalActor",
            "objects belong to their context, not to @\(name): write 'nonisolated' instead")
    }
    static let designatedInit = Misuse(
        "designatedInit",
        "objects are created by their context: write 'convenience init' and call self.init(context:)"
    )
    static let conditional = Misuse(
        "conditional", "a persistent property cannot be inside #if: the macro does not see it")
    static let conditionalValidation = Misuse(
        "conditionalValidation",
        "a method that validates a property cannot be inside #if: the macro does not see it")

    static func noType(_ name: String) -> Misuse {
        Misuse("noType", "a persistent property needs a type annotation: var \(name): Int = 0")
    }
    static let observer = Misuse(
        "observer",
        "a persistent property cannot have observers, which would never run: mark it @Transient, or observe the context"
    )
    static let severalNames = Misuse(
        "severalNames", "declare each persistent property on its own, with its own 'var'")
    static let pattern = Misuse(
        "pattern", "a persistent property cannot be declared with a tuple pattern")
    static let constant = Misuse(
        "constant",
        "a persistent property must be a variable: write 'var', or give the constant a value")
    static let transientWithoutValue = Misuse(
        "transientWithoutValue",
        "a transient property needs a default value: objects are created by their context, without arguments"
    )
    static func weak(_ word: String) -> Misuse {
        Misuse("weak", "a relationship does not retain its objects: remove '\(word)'")
    }
    static let overriding = Misuse(
        "overriding", "an inherited persistent property cannot be redeclared")
    static let unwrapped = Misuse(
        "unwrapped",
        "a persistent property cannot be implicitly unwrapped: write '?' instead of '!'")
    static func reserved(_ name: String) -> Misuse {
        Misuse(
            "reserved",
            "'\(name)' is a member of every managed object: give the property another name")
    }

    static func outside(_ mark: String) -> Misuse {
        Misuse("outside", "\(mark) can only be used in a class marked @Entity")
    }
    static func notStored(_ mark: String) -> Misuse {
        Misuse("notStored", "\(mark) is for stored properties of objects: 'var name: Type'")
    }
    static func both(_ one: String, _ other: String) -> Misuse {
        Misuse("both", "a property can be marked \(one) or \(other), but not both")
    }
    static let option = Misuse(
        "option", "write the options of @Attribute inline, such as '.unique'")
    static let literalText = Misuse(
        "literalText", "this must be a string literal, because the macro reads it")
    static let literalFlag = Misuse(
        "literalFlag", "this must be 'true' or 'false', because the macro reads it")
    static func textlessKeys(_ label: String) -> Misuse {
        Misuse("textlessKeys", "'\(label)' requires a list with at least one string property")
    }
    static let inverse = Misuse(
        "inverse",
        "write the inverse as a key path, '\\Tag.products', or as a string, \"products\"")
    static let derivedDefault = Misuse(
        "derivedDefault",
        "a derived attribute is computed by the store: it cannot have a default value"
    )
    static func textOnly(_ label: String) -> Misuse {
        Misuse("textOnly", "'\(label)' is only for strings")
    }
    static let bytesOnly = Misuse(
        "bytesOnly", "only Data and Codable values can be stored externally")
    static let ephemeralUnique = Misuse(
        "ephemeralUnique", "an ephemeral attribute is not stored: it cannot be unique")

    static let derivedUnique = Misuse(
        "derivedUnique", "a derived attribute is computed by saves: it cannot be unique")
    static let transformedUnique = Misuse(
        "transformedUnique",
        "this is stored as bytes without a canonical form: it cannot be unique")
    static let transformedDerived = Misuse(
        "transformedDerived", "a derived attribute is computed: there is nothing to transform")
    static let transformedWithoutDefault = Misuse(
        "transformedWithoutDefault",
        "stored bytes may be unreadable: give the property a default value, or make it optional"
    )
    static let severalTransformers = Misuse(
        "severalTransformers",
        "an attribute can only be stored in one way: .codable or .transformable(by:)")
    static func rangeless(_ label: String) -> Misuse {
        Misuse("rangeless", "'\(label)' is only for numbers, dates and strings")
    }
    static func countOfOne(_ label: String) -> Misuse {
        Misuse(
            "countOfOne",
            "'\(label)' is for to-many relationships: use 'isOptional: false' to require a target"
        )
    }
    static func collectionKey(_ macro: String, _ key: String) -> Misuse {
        Misuse(
            "collectionKey",
            "'\(key)' is stored as bytes or is a to-many relationship: #\(macro) takes other attributes and to-one relationships"
        )
    }

    static func keyList(_ macro: String) -> Misuse {
        Misuse(
            "keyList", "#\(macro) takes lists of key paths written inline: [\\.name, \\.price]")
    }
    static func repeatedKey(_ key: String) -> Misuse {
        Misuse("repeatedKey", "'\(key)' is already in this list")
    }
    static let repeatedIndex = Misuse("repeatedIndex", "there is already an index of these keys")
    static func ephemeralKey(_ macro: String, _ key: String) -> Misuse {
        Misuse(
            "ephemeralKey",
            "'\(key)' is ephemeral and not stored: #\(macro) cannot use it")
    }
    static func toManyKey(_ macro: String, _ key: String) -> Misuse {
        Misuse(
            "toManyKey",
            "'\(key)' is a to-many relationship: #\(macro) takes attributes and to-one relationships"
        )
    }
    static func emptyKeyList(_ macro: String) -> Misuse {
        Misuse("emptyKeyList", "#\(macro) requires at least one property")
    }
    static func foreignKeys(_ macro: String, _ name: String) -> Misuse {
        Misuse("foreignKeys", "this belongs to \(name): write #\(macro)<\(name)>")
    }
    static func unknownKey(_ key: String, _ name: String) -> Misuse {
        Misuse("unknownKey", "\(name) has no persistent property '\(key)'")
    }
    static func outsideKeys(_ macro: String) -> Misuse {
        Misuse("outsideKeys", "#\(macro) can only be used in a class marked @Entity")
    }

    // Properties and functions of Core Data's classes.
    static func unmanaged(_ macro: String) -> Misuse {
        Misuse(
            "unmanaged",
            "@\(macro) belongs to a class of managed objects, or to an extension of one")
    }
    static let managedVariable = Misuse(
        "managedVariable", "@NSManaged belongs to a 'var': for a function write @NSManagedAccessor")
    static let managedFunction = Misuse(
        "managedFunction", "@NSManagedAccessor belongs to a function: for a 'var' write @NSManaged")
    static let managedConstant = Misuse(
        "managedConstant", "the context sets a managed property: write 'var'")
    static let managedOfType = Misuse(
        "managedOfType", "a managed property belongs to objects, not to their class")
    static let managedValue = Misuse(
        "managedValue",
        "a managed property has the default of the model, and no value here: set one in awakeFromInsert()"
    )
    static let managedGetter = Misuse(
        "managedGetter", "a managed property has no accessors here: @NSManaged writes them")
    static func managedType(_ name: String) -> Misuse {
        Misuse("managedType", "a managed property needs a type annotation: var \(name): String?")
    }
    static func managedName(_ name: String) -> Misuse {
        Misuse(
            "managedName",
            "\(name) is no function that Core Data writes: these are addToItems(_:), removeFromItems(_:), insertIntoItems(_:at:), removeFromItems(at:) and replaceItems(at:with:), for a relationship items"
        )
    }
    static let managedBody = Misuse(
        "managedBody", "the function has a body: @NSManagedAccessor writes it")

    static let notAStruct = Misuse("notAStruct", "a composite must be a struct")
    static let genericStruct = Misuse("genericStruct", "a composite cannot be generic")
    static let emptyComposite = Misuse(
        "emptyComposite", "a composite needs at least one stored property")
    static let noElementType = Misuse(
        "noElementType", "an element of a composite needs a type annotation")
    static let constantElement = Misuse(
        "constantElement", "an element of a composite must be a variable: write 'var'")
}

extension MacroExpansionContext {
    /// Says what is wrong, at its place.
    func report(_ misuse: Misuse, at node: some SyntaxProtocol) {
        diagnose(Diagnostic(node: node, message: misuse))
    }
}
