// An attribute as a property: its type, its default, and the arguments of @Attribute.
//
//   1. An optional attribute is a Swift optional, whether or not the model requests scalar accessors;
//      integers have the width of the model.
//   2. A transient attribute is `.ephemeral`; one without a storable type is only a property of the class.
//   3. A transformable attribute whose class is a collection of values is a Codable property, stored as JSON;
//      any other is its bytes.
//   4. A comment contains everything that a mark cannot express.

import CairnInspection
import CairnModel

/// An attribute that is not composite, in Swift.
struct SwiftAttribute {
    private let attribute: AttributeDescription

    init(_ attribute: AttributeDescription) { self.attribute = attribute }

    /// Returns the property, with its name in code.
    func property(name: String) -> SwiftProperty {
        guard let (type, remarks) = type else {
            return Self.unstored(
                attribute, name: name,
                type: attribute.type == .objectID ? "ObjectID" : "Any",
                remark:
                    "Transient and untyped: it is kept in the object, which does not track its changes."
            )
        }
        var property = SwiftProperty(
            remarks: remarks, name: name, type: type + (attribute.isOptional ? "?" : ""))
        if attribute.derivationExpression == nil {
            property.value = defaultValue(&property.remarks)
        } else if !attribute.defaultValue.isNull {
            property.remarks.append("It has no default value, because it is derived.")
        }
        property.arguments = arguments(&property.remarks)
        property.remarks += conditions
        if !property.arguments.isEmpty { property.mark = "Attribute" }
        property.remarks += SwiftRemarks.userInfo(attribute.userInfo)
        return property
    }

    /// Returns a property that is not stored.
    static func unstored(
        _ attribute: AttributeDescription, name: String, type: String, remark: String
    ) -> SwiftProperty {
        SwiftProperty(
            remarks: [remark] + SwiftRemarks.userInfo(attribute.userInfo), mark: "Transient",
            name: name, type: type + "?", value: "nil")
    }

    /// The model's validation that a mark cannot express: a `validate…` method can.
    private var conditions: [String] {
        zip(attribute.validationPredicates, attribute.validationWarnings).map {
            predicate, warning in
            let reason = warning.isEmpty ? "" : " (\(warning))"
            return
                "The model has a validation predicate: \(predicate)\(reason). Check it in validate\(SwiftIdentifier.capitalized(attribute.name))(_:)."
        }
    }

    // MARK: Types

    private var type: (String, [String])? {
        switch attribute.type {
        case .integer16: ("Int16", [])
        case .integer32: ("Int32", [])
        case .integer64: ("Int64", [])
        case .decimal: ("Decimal", [])
        case .double: ("Double", [])
        case .float: ("Float", [])
        case .string: ("String", [])
        case .boolean: ("Bool", [])
        case .date: ("Date", [])
        case .binary: ("Data", [])
        case .uuid: ("UUID", [])
        case .uri: ("URL", [])
        case .transformable: transformable
        case .undefined, .objectID, .composite: nil
        }
    }

    private var transformable: (String, [String]) {
        var made: [String] = []
        if let name = attribute.customClassName { made.append("class \(name)") }
        if let name = attribute.valueTransformerName { made.append("transformer \(name)") }
        let model = "Transformable" + (made.isEmpty ? "" : " (\(made.joined(separator: ", ")))")
        if let name = codableTypeName { return (name.text, ["\(model): stored as JSON."]) }
        return (
            "Data",
            [
                "\(model): its bytes. Use a Codable type to store it as JSON, or any other with @Attribute(.transformable(by:))."
            ]
        )
    }

    /// The collection type of a transformable attribute; nil if it is declared as its bytes.
    private var codableTypeName: CodableTypeName? {
        guard attribute.type == .transformable else { return nil }
        return attribute.customClassName.flatMap(CodableTypeName.init)
    }

    // MARK: Defaults and marks

    private func defaultValue(_ remarks: inout [String]) -> String? {
        let value = attribute.defaultValue
        if value.isNull { return emptyCollection(&remarks) }
        guard value.fits(attribute.type), attribute.type != .transformable,
            let text = SwiftLiteral.text(value)
        else {
            remarks.append("Its default value in the model is \(PlainText.value(value)).")
            return emptyCollection(&remarks)
        }
        if case .binary(let data) = value, !data.isEmpty { remarks.append(Self.notForBatches) }
        return text
    }

    /// Returns the empty value of a collection, which its class has to provide. It is computed, and so not
    /// part of the model.
    private func emptyCollection(_ remarks: inout [String]) -> String? {
        if codableTypeName == nil || attribute.isOptional { return nil }
        remarks.append(Self.notForBatches)
        return ".init()"
    }

    private static let notForBatches =
        "New objects get the default value, but rows of a batch insert do not."

    /// Returns the stored attribute that the property defines, without its derivation.
    func stored(name: String) -> AttributeDescription {
        var said = AttributeDescription(name, attribute.type, optional: attribute.isOptional)
        if attribute.type == .transformable {
            said.type = codableTypeName == nil ? .binary : .transformable
        }
        guard attribute.derivationExpression == nil else { return said }
        var remarks: [String] = []
        // Bytes are not a constant: they are not part of the model. Neither is the initial value of a
        // collection.
        if attribute.type != .transformable, defaultValue(&remarks) != nil,
            attribute.type != .binary || isEmptyDefault
        {
            said.defaultValue = attribute.defaultValue
        }
        return said
    }

    private var isEmptyDefault: Bool {
        if case .binary(let data) = attribute.defaultValue { data.isEmpty } else { false }
    }

    private func arguments(_ remarks: inout [String]) -> [String] {
        var arguments: [String] = []
        if attribute.isTransient { arguments.append(".ephemeral") }
        if attribute.allowsExternalBinaryDataStorage {
            switch attribute.type {
            case .binary, .transformable: arguments.append(".externalStorage")
            default: remarks.append("The model allows external storage, which is only for bytes.")
            }
        }
        if attribute.preservesValueInHistoryOnDeletion {
            arguments.append(".preserveValueOnDeletion")
        }
        if let derivation = attribute.derivationExpression {
            arguments.append("derived: \(SwiftLiteral.text(derivation))")
        }
        arguments += SwiftRemarks.names(
            attribute.renamingIdentifier, attribute.versionHashModifier)
        for (label, limit) in [
            ("minimumValue", attribute.minimumValue), ("maximumValue", attribute.maximumValue),
        ] {
            guard let limit else { continue }
            if limit.fits(attribute.type), Self.hasRange(attribute.type),
                let text = SwiftLiteral.text(limit)
            {
                arguments.append("\(label): \(text)")
            } else {
                remarks.append("The model declares \(label): \(PlainText.value(limit)).")
            }
        }
        let lengths = [
            attribute.minimumLength.map { "minimumLength: \($0)" },
            attribute.maximumLength.map { "maximumLength: \($0)" },
            attribute.regularExpression.map { "pattern: \(SwiftLiteral.text($0))" },
        ].compactMap(\.self)
        if attribute.type == .string {
            arguments += lengths
        } else if !lengths.isEmpty {
            remarks.append(
                "The model declares \(lengths.joined(separator: ", ")), which is only for strings.")
        }
        return arguments
    }

    private static func hasRange(_ type: AttributeType) -> Bool {
        switch type {
        case .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .date: true
        default: false
        }
    }
}

/// The marks and comments that all kinds of properties share.
enum SwiftRemarks {
    /// Returns the arguments that identify a property in other versions of a model.
    static func names(_ originalName: String?, _ hashModifier: String?) -> [String] {
        [
            originalName.map { "originalName: \(SwiftLiteral.text($0))" },
            hashModifier.map { "hashModifier: \(SwiftLiteral.text($0))" },
        ].compactMap(\.self)
    }

    /// Returns the author's own entries, which no mark can express.
    static func userInfo(_ entries: [String: String]) -> [String] {
        // The mark contains its merge rule.
        let entries = entries.filter { $0.key != MergeRule.userInfoKey }
        if entries.isEmpty { return [] }
        let text = entries.inKeyOrder().map { "\($0.key) = \($0.value)" }
        return ["User info: \(text.joined(separator: ", "))"]
    }
}
