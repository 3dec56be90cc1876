// What a macro says where it cannot do what is asked of it.

import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// A sentence for somebody who wrote what a macro cannot accept.
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
    static let notAClass = Misuse("notAClass", "an entity is a class: write 'final class'")
    static let noSuperclass = Misuse(
        "noSuperclass", "an entity inherits from ManagedObject, or from another entity")
    static let genericClass = Misuse(
        "genericClass", "an entity cannot be generic: the store has one entity of that name")
    static func globalActor(_ name: String) -> Misuse {
        Misuse(
            "globalActor",
            "objects belong to their context, not to @\(name): write 'nonisolated' instead")
    }
    static let designatedInit = Misuse(
        "designatedInit",
        "objects are made by their context: write 'convenience init' and call self.init(context:)")
    static let conditional = Misuse(
        "conditional", "a persistent property cannot stand inside #if: the macro does not see it")
    static let conditionalValidation = Misuse(
        "conditionalValidation",
        "a method that validates a property cannot stand inside #if: the macro does not see it")

    static func noType(_ name: String) -> Misuse {
        Misuse("noType", "a persistent property needs a type annotation: var \(name): Int = 0")
    }
    static let observer = Misuse(
        "observer",
        "a persistent property cannot have observers, they would never run: mark it @Transient, or observe the context"
    )
    static let severalNames = Misuse(
        "severalNames", "a persistent property needs a line of its own: write 'var' once for each")
    static let pattern = Misuse(
        "pattern", "a persistent property has one name: a tuple pattern cannot be used here")
    static let constant = Misuse(
        "constant", "a persistent property can be set: write 'var', or give the constant a value")
    static let transientWithoutValue = Misuse(
        "transientWithoutValue",
        "a transient property needs a value: objects are made by their context, without arguments")
    static func weak(_ word: String) -> Misuse {
        Misuse("weak", "a relationship does not keep its objects alive: leave out '\(word)'")
    }
    static let overriding = Misuse(
        "overriding", "a persistent property that is inherited cannot be declared again")
    static let unwrapped = Misuse(
        "unwrapped", "a persistent property can be nil or not: write '?' instead of '!'")
    static func reserved(_ name: String) -> Misuse {
        Misuse(
            "reserved",
            "'\(name)' is a member of every managed object: give the property another name")
    }

    static func outside(_ mark: String) -> Misuse {
        Misuse("outside", "\(mark) can only be used in a class that is marked @Entity")
    }
    static func notStored(_ mark: String) -> Misuse {
        Misuse("notStored", "\(mark) is for stored properties of objects: 'var name: Type'")
    }
    static func both(_ one: String, _ other: String) -> Misuse {
        Misuse("both", "a property is marked \(one) or \(other), not both")
    }
    static let option = Misuse(
        "option", "write the options of @Attribute in place, as in '.unique'")
    static let literalText = Misuse(
        "literalText", "write this as a string literal: the macro reads it")
    static let literalFlag = Misuse(
        "literalFlag", "write this as 'true' or 'false': the macro reads it")
    static func textlessKeys(_ label: String) -> Misuse {
        Misuse("textlessKeys", "'\(label)' needs a list with a string property in it")
    }
    static let inverse = Misuse(
        "inverse",
        "write an inverse as a key path, '\\Tag.products', or as a string, \"products\"")
    static let derivedDefault = Misuse(
        "derivedDefault", "a derived attribute is computed by the store: it has no value of its own"
    )
    static func textOnly(_ label: String) -> Misuse {
        Misuse("textOnly", "'\(label)' is for strings")
    }
    static let bytesOnly = Misuse(
        "bytesOnly", "only Data, and Codable values, can be stored externally")
    static let ephemeralUnique = Misuse(
        "ephemeralUnique", "an ephemeral attribute is not in the store: it cannot be unique")

    static let derivedUnique = Misuse(
        "derivedUnique", "a derived attribute is computed by the save: it cannot be unique")
    static let transformedUnique = Misuse(
        "transformedUnique",
        "this is stored as bytes, which have no fixed form: it cannot be unique")
    static let transformedDerived = Misuse(
        "transformedDerived", "a derived attribute is computed: there is nothing to transform")
    static let transformedWithoutDefault = Misuse(
        "transformedWithoutDefault",
        "stored bytes may be unreadable, and the property needs a value then: give it a default, or make it optional"
    )
    static let severalTransformers = Misuse(
        "severalTransformers", "an attribute is stored in one way: .codable or .transformable(by:)")
    static func rangeless(_ label: String) -> Misuse {
        Misuse("rangeless", "'\(label)' is for numbers, dates and strings")
    }
    static func countOfOne(_ label: String) -> Misuse {
        Misuse(
            "countOfOne",
            "'\(label)' is for to-many relationships: 'isOptional: false' says that there must be a target"
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
            "keyList", "#\(macro) takes lists of key paths written in place: [\\.name, \\.price]")
    }
    static func repeatedKey(_ key: String) -> Misuse {
        Misuse("repeatedKey", "'\(key)' is in this list already")
    }
    static let repeatedIndex = Misuse("repeatedIndex", "there is an index of these keys already")
    static func ephemeralKey(_ macro: String, _ key: String) -> Misuse {
        Misuse(
            "ephemeralKey",
            "'\(key)' is ephemeral, the store does not have it: #\(macro) cannot use it")
    }
    static func toManyKey(_ macro: String, _ key: String) -> Misuse {
        Misuse(
            "toManyKey",
            "'\(key)' is a to-many relationship: #\(macro) takes attributes and to-one relationships"
        )
    }
    static func emptyKeyList(_ macro: String) -> Misuse {
        Misuse("emptyKeyList", "#\(macro) needs at least one property")
    }
    static func foreignKeys(_ macro: String, _ name: String) -> Misuse {
        Misuse("foreignKeys", "this belongs to \(name): write #\(macro)<\(name)>")
    }
    static func unknownKey(_ key: String, _ name: String) -> Misuse {
        Misuse("unknownKey", "\(name) has no persistent property '\(key)'")
    }
    static func outsideKeys(_ macro: String) -> Misuse {
        Misuse("outsideKeys", "#\(macro) can only be used in a class that is marked @Entity")
    }

    static let notAStruct = Misuse("notAStruct", "a composite is a struct")
    static let genericStruct = Misuse("genericStruct", "a composite cannot be generic")
    static let emptyComposite = Misuse(
        "emptyComposite", "a composite needs at least one stored property")
    static let noElementType = Misuse(
        "noElementType", "an element of a composite needs a type annotation")
    static let constantElement = Misuse(
        "constantElement", "an element of a composite is read from the store: write 'var'")
}

extension MacroExpansionContext {
    /// Says what is wrong, at its place.
    func report(_ misuse: Misuse, at node: some SyntaxProtocol) {
        diagnose(Diagnostic(node: node, message: misuse))
    }
}
