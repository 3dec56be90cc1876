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
        "pattern", "a persistent property has one name: a tuple cannot be taken apart here")
    static let constant = Misuse(
        "constant", "a persistent property can be set: write 'var', or give the constant a value")
    static let transientWithoutValue = Misuse(
        "transientWithoutValue",
        "a transient property needs a value: objects are made by their context, without arguments")
    static func weak(_ word: String) -> Misuse {
        Misuse("weak", "a relationship holds nothing alive: leave out '\(word)'")
    }
    static let overriding = Misuse(
        "overriding", "a persistent property that is inherited cannot be declared again")
    static let unwrapped = Misuse(
        "unwrapped", "a persistent property can be nil or not: write '?' instead of '!'")
    static func reserved(_ name: String) -> Misuse {
        Misuse(
            "reserved",
            "'\(name)' means something in every managed object: give the property another name")
    }

    static func outside(_ mark: String) -> Misuse {
        Misuse("outside", "\(mark) means something only in a class that is marked @Entity")
    }
    static func notStored(_ mark: String) -> Misuse {
        Misuse("notStored", "\(mark) is for stored properties of objects: 'var name: Type'")
    }
    static func both(_ one: String, _ other: String) -> Misuse {
        Misuse("both", "a property is marked \(one) or \(other), not both")
    }
    static let option = Misuse(
        "option", "an option of @Attribute is written in place, as in '.unique'")
    static let literalText = Misuse(
        "literalText", "this is written as a string literal: the model is made of it")
    static let literalFlag = Misuse(
        "literalFlag", "this is written as 'true' or 'false': the model is made of it")
    static func textlessKeys(_ label: String) -> Misuse {
        Misuse("textlessKeys", "'\(label)' is for lists with a string in them")
    }
    static let inverse = Misuse(
        "inverse",
        "an inverse is written as a key path, '\\Tag.products', or as a string, \"products\"")
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
        "stored bytes may turn out to be no value, and something has to be shown then: give the property a default, or make it optional"
    )
    static let severalTransformers = Misuse(
        "severalTransformers", "an attribute is stored in one way: .codable or .transformable(by:)")
    static func rangeless(_ label: String) -> Misuse {
        Misuse("rangeless", "'\(label)' is for numbers, dates and strings")
    }
    static func countOfOne(_ label: String) -> Misuse {
        Misuse(
            "countOfOne",
            "'\(label)' is for relationships to many objects: 'isOptional: false' says that there must be one"
        )
    }
    static func collectionKey(_ macro: String, _ key: String) -> Misuse {
        Misuse(
            "collectionKey",
            "'\(key)' is stored as bytes, or leads to many objects: #\(macro) takes other attributes and to-one relationships"
        )
    }

    static func keyList(_ macro: String) -> Misuse {
        Misuse(
            "keyList", "#\(macro) takes lists of key paths, written in place: [\\.name, \\.price]")
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
            "'\(key)' leads to many objects: #\(macro) takes attributes and to-one relationships")
    }
    static func emptyKeyList(_ macro: String) -> Misuse {
        Misuse("emptyKeyList", "#\(macro) needs at least one property")
    }
    static func foreignKeys(_ macro: String, _ name: String) -> Misuse {
        Misuse("foreignKeys", "this is \(name)'s: write #\(macro)<\(name)>")
    }
    static func unknownKey(_ key: String, _ name: String) -> Misuse {
        Misuse("unknownKey", "\(name) has no persistent property '\(key)'")
    }
    static func outsideKeys(_ macro: String) -> Misuse {
        Misuse("outsideKeys", "#\(macro) means something only in a class that is marked @Entity")
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
