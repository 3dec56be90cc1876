// A model as human-readable text.
//
// One block for each entity: its own properties in aligned columns of name, type or destination, and
// remarks; then constraints and indexes. What is usual is not said: attributes without a remark are
// optional, relationships without a rule nullify.

import FoundationEssentials

/// The text of a whole model.
///
///     entity Product : Item   class Shop.Product
///       attribute     name      string      required, 1 to 80 characters
///       relationship  category  → Category  inverse products, required
///       relationship  tags      ⇉ Tag       inverse products, ordered, cascade on delete
///       unique        name
public struct ModelDescription: Sendable, CustomStringConvertible {
    private let model: ManagedObjectModel

    /// Describes that model.
    public init(_ model: ManagedObjectModel) {
        self.model = model
    }

    /// The text, ending with a line feed.
    public var description: String {
        var blocks = [head]
        blocks += model.composites.map(block(of:))
        blocks += model.entities.map(block(of:))
        let rest = TextTable(rows: configurations + templates, indent: "").lines
        if !rest.isEmpty { blocks.append(rest) }
        return blocks.map { $0.joined(separator: "\n") + "\n" }.joined(separator: "\n")
    }

    private var head: [String] {
        let attributes = model.entities.reduce(0) { $0 + $1.attributes.count }
        let relationships = model.entities.reduce(0) { $0 + $1.relationships.count }
        var line = [
            Self.count(model.entities.count, "entity", "entities"),
            Self.count(attributes, "attribute", "attributes"),
            Self.count(relationships, "relationship", "relationships"),
        ].joined(separator: ", ")
        let versions = model.versionIdentifiers.filter { !$0.isEmpty }
        if !versions.isEmpty { line += "; version \(versions.joined(separator: ", "))" }
        return [line]
    }

    private static func count(_ number: Int, _ one: String, _ many: String) -> String {
        "\(number) \(number == 1 ? one : many)"
    }

    private func block(of entity: EntityDescription) -> [String] {
        var title = "entity \(entity.name)"
        if let parent = entity.superentityName { title += " : \(parent)" }
        let remarks = Self.remarks(on: entity)
        if !remarks.isEmpty { title += "   \(remarks.joined(separator: ", "))" }
        return [title] + TextTable(rows: Self.rows(of: entity)).lines
    }

    /// What is said of an entity beside its name and its parent.
    package static func remarks(on entity: EntityDescription) -> [String] {
        var remarks: [String] = []
        if entity.isAbstract { remarks.append("abstract") }
        if let name = entity.managedObjectClassName { remarks.append("class \(name)") }
        return remarks
            + marks(entity.renamingIdentifier, entity.versionHashModifier, entity.userInfo)
    }

    /// What an entity has, a row each: what it is (`attribute`, `relationship`, `fetched`, `unique`, `index`; nothing for an
    /// element of the attribute above it), its name, and mostly its type and remarks.
    package static func rows(of entity: EntityDescription) -> [[String]] {
        var rows: [[String]] = []
        for attribute in entity.attributes {
            rows += Self.rows(of: attribute)
        }
        rows += entity.relationships.map(Self.row(of:))
        rows += entity.fetchedProperties.map { property in
            [
                "fetched", property.name, "→ \(property.entityName)",
                property.predicateFormat ?? "all",
            ]
        }
        rows += entity.allUniquenessRules.map { rule in
            let names = rule.names.joined(separator: ", ")
            // The last cell of a row makes no column wider.
            return rule.isPlain
                ? ["unique", names] : ["unique", names, rule.remarks.joined(separator: ", ")]
        }
        rows += entity.indexes.map(Self.row(of:))
        return rows
    }

    private func block(of composite: CompositeDescription) -> [String] {
        let rows = composite.elements.flatMap { Self.rows(of: $0, path: $0.name) }
        return ["composite \(composite.name)"] + TextTable(rows: rows).lines
    }

    // MARK: Properties

    /// An attribute as it stands among the rows of its entity, and those of its elements.
    package static func rows(of attribute: AttributeDescription) -> [[String]] {
        rows(of: attribute, path: attribute.name)
    }

    private static func rows(
        of attribute: AttributeDescription, path: String, isElement: Bool = false
    ) -> [[String]] {
        var kind = attribute.type.rawValue
        if let name = attribute.compositeName { kind += " \(name)" }
        let own = [
            isElement ? "" : "attribute", path, kind,
            remarks(on: attribute).joined(separator: ", "),
        ]
        return [own]
            + attribute.elements.flatMap {
                rows(of: $0, path: "\(path).\($0.name)", isElement: true)
            }
    }

    private static func remarks(on attribute: AttributeDescription) -> [String] {
        var remarks: [String] = []
        if !attribute.isOptional { remarks.append("required") }
        if attribute.isTransient { remarks.append("transient") }
        if !attribute.defaultValue.isNull { remarks.append("default \(attribute.defaultValue)") }
        if let range = range(attribute.minimumValue, attribute.maximumValue) {
            remarks.append(range)
        }
        if let range = range(attribute.minimumLength, attribute.maximumLength) {
            remarks.append("\(range) characters")
        }
        if let pattern = attribute.regularExpression { remarks.append("matches \(pattern)") }
        remarks += attribute.validationPredicates.map { "holds \($0)" }
        if let expression = attribute.derivationExpression {
            remarks.append("derived from \(expression)")
        }
        if let name = attribute.customClassName { remarks.append("class \(name)") }
        if let name = attribute.valueTransformerName { remarks.append("transformer \(name)") }
        if attribute.allowsExternalBinaryDataStorage { remarks.append("external storage") }
        if attribute.preservesValueInHistoryOnDeletion { remarks.append("kept in history") }
        return remarks
            + marks(
                attribute.renamingIdentifier, attribute.versionHashModifier, attribute.userInfo)
    }

    /// A relationship as it stands among the rows of its entity.
    package static func row(of relationship: RelationshipDescription) -> [String] {
        var remarks: [String] = []
        if let inverse = relationship.inverseName { remarks.append("inverse \(inverse)") }
        if !relationship.isOptional { remarks.append("required") }
        if relationship.isTransient { remarks.append("transient") }
        if relationship.isOrdered { remarks.append("ordered") }
        if relationship.isToMany {
            let least = relationship.minimumCount == 0 ? nil : relationship.minimumCount
            let most = relationship.maximumCount == 0 ? nil : relationship.maximumCount
            if let range = range(least, most) { remarks.append("\(range) objects") }
        }
        switch relationship.deleteRule {
        case .nullify: break
        case .noAction: remarks.append("no action on delete")
        case .cascade, .deny: remarks.append("\(relationship.deleteRule.rawValue) on delete")
        }
        remarks += marks(
            relationship.renamingIdentifier, relationship.versionHashModifier,
            relationship.userInfo)
        let arrow = relationship.isToMany ? "⇉" : "→"
        return [
            "relationship", relationship.name, "\(arrow) \(relationship.destinationEntityName)",
            remarks.joined(separator: ", "),
        ]
    }

    /// An index as it stands among the rows of its entity.
    package static func row(of index: FetchIndexDescription) -> [String] {
        let elements = index.elements.map { element in
            (element.propertyName ?? element.expression ?? "") + (element.isAscending ? "" : " ↓")
                + (element.kind == .rTree ? " (r-tree)" : "")
        }.joined(separator: ", ")
        // Old forms have no name of their own.
        guard index.form == .fetchIndex else { return ["index", elements] }
        let condition = index.partialIndexPredicate.map { "where \($0)" } ?? ""
        return ["index", index.name, elements, condition]
    }

    private static func marks(
        _ renamingIdentifier: String?, _ modifier: String?, _ userInfo: [String: String]
    ) -> [String] {
        var marks: [String] = []
        if let renamingIdentifier { marks.append("was \(renamingIdentifier)") }
        if let modifier { marks.append("hash modifier \(modifier)") }
        if !userInfo.isEmpty {
            let entries = userInfo.inKeyOrder().map { "\($0.key)=\($0.value)" }
            marks.append("info \(entries.joined(separator: " "))")
        }
        return marks
    }

    private static func range<T>(_ least: T?, _ most: T?) -> String? {
        switch (least, most) {
        case (let least?, let most?): "\(least) to \(most)"
        case (let least?, nil): "at least \(least)"
        case (nil, let most?): "at most \(most)"
        case (nil, nil): nil
        }
    }

    // MARK: Configurations and templates

    private var configurations: [[String]] {
        model.configurations.inKeyOrder().map { name, members in
            ["configuration", name, members.joined(separator: ", ")]
        }
    }

    private var templates: [[String]] {
        model.fetchRequestTemplates.map { template in
            var remarks = [template.predicateFormat.map { "where \($0)" } ?? "all"]
            if template.fetchLimit > 0 { remarks.append("at most \(template.fetchLimit)") }
            if template.fetchBatchSize > 0 {
                remarks.append("\(template.fetchBatchSize) at a time")
            }
            if template.returnsDistinctResults { remarks.append("distinct") }
            if !template.includesSubentities { remarks.append("without subentities") }
            return [
                "template", template.name, "→ \(template.entityName)",
                remarks.joined(separator: ", "),
            ]
        }
    }
}

/// Rows of cells under one another.
private struct TextTable {
    let rows: [[String]]
    var indent = "  "

    /// The rows with every column as wide as its widest cell. The last cell of a row is not counted, so
    /// that one long text does not push the others away, nor are blanks left at the end of a line.
    var lines: [String] {
        var widths: [Int] = []
        for row in rows {
            for (column, cell) in row.dropLast().enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], cell.count)
            }
        }
        return rows.map { row in
            var line = indent
            for (column, cell) in row.enumerated() {
                line += cell
                guard column < row.count - 1 else { break }
                line += String(repeating: " ", count: widths[column] - cell.count + 2)
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}

extension ManagedObjectModel {
    /// The model as JSON text with sorted keys: ``ModelDescription`` for programs. Decoding it gives an equal model.
    /// Defaults and limits that are doubles, floats or dates are strings, such as `{"date": "2024-05-01T00:00:00Z"}`, with
    /// all their digits.
    ///
    /// - Throws: The encoder's error; a model of valid values can always be encoded.
    public func json() throws -> String { try json([.prettyPrinted]) + "\n" }

    /// The same on one line.
    package func jsonLine() throws -> String { try json([]) }

    private func json(_ formatting: JSONEncoder.OutputFormatting) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, formatting]
        if let key = CodingUserInfoKey.writesTexts { encoder.userInfo[key] = true }
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }

    /// Decodes a model from a text written by ``json()``. The model has not been checked: see ``Schema``.
    ///
    /// - Throws: The decoder's error.
    public init(json: String) throws {
        self = try JSONDecoder().decode(ManagedObjectModel.self, from: Data(json.utf8))
    }

    /// The same of a text that nobody has vouched for: it must have entities, and no keys that nobody knows.
    ///
    /// Any object is a model otherwise, and one without entities: a store that is migrated to it loses all it has.
    ///
    /// - Throws: What the decoder says.
    package init(strictlyReading json: String) throws {
        let decoder = JSONDecoder()
        if let key = CodingUserInfoKey.refusesUnknownKeys { decoder.userInfo[key] = true }
        self = try decoder.decode(ManagedObjectModel.self, from: Data(json.utf8))
    }
}
