// An entity as a class: its superclass, its constraints and indexes, its properties.
//
// All constraints are lists of #Unique, in the order of the model, also those of one property: so the classes
// have them in the same order.

import CairnInspection
import CairnModel

/// Writes the classes of a model.
struct SwiftClass {
    let schema: Schema
    let names: SwiftModelNames
    let composites: SwiftComposites
    let inverses: SwiftInverses
    let isPublic: Bool

    private var paths: SwiftPaths {
        SwiftPaths(schema: schema, names: names, composites: composites)
    }

    /// Returns the lines of an entity's class.
    func lines(_ entity: SchemaEntity) -> [String] {
        let description = entity.description
        let name = names.classes[entity.index]
        var lines = (names.classRemarks[entity.index] + SwiftRemarks.userInfo(description.userInfo))
            .flatMap { SwiftText.comment($0) }
        var arguments: [String] = []
        if entity.name != name { arguments.append(SwiftLiteral.text(entity.name)) }
        if entity.isAbstract { arguments.append("isAbstract: true") }
        arguments += SwiftRemarks.names(
            description.renamingIdentifier, description.versionHashModifier)
        arguments += rule(description.mergeRule, entity)
        lines += arguments.isEmpty ? ["@Entity"] : SwiftText.call("@Entity", arguments, indent: 0)
        let access = isPublic ? "public " : ""
        // A class with subclasses cannot be final.
        let keyword = entity.family.count > 1 ? "class" : "final class"
        let parent = entity.parent.map { names.classes[$0] } ?? "ManagedObject"
        let body = keyLists(entity) + properties(entity)
        let head = "\(access)\(keyword) \(name): \(parent) {"
        return lines + (body.isEmpty ? [head + "}"] : [head] + body + ["}"])
    }

    // MARK: Properties

    private func properties(_ entity: SchemaEntity) -> [String] {
        var lines: [String] = []
        for attribute in entity.description.attributes {
            lines += property(attribute, entity).lines(isPublic: isPublic)
        }
        for relationship in entity.relationships where relationship.declaringEntity == entity.index
        {
            lines += property(relationship, entity).lines(isPublic: isPublic)
        }
        for fetched in entity.description.fetchedProperties {
            let condition = fetched.predicateFormat.map { " where \($0)" } ?? ""
            lines += SwiftText.comment(
                "\(fetched.name): a fetched property, the objects of \(fetched.entityName)\(condition).",
                indent: 4)
        }
        return lines
    }

    /// Returns the remarks about a property's name. A renamed property has the model's name as its original
    /// one, so that a store with that name is recognized.
    private func remarks(
        on name: String, _ entity: SchemaEntity, originalName: inout String?
    ) -> [String] {
        guard let remark = names.propertyRemark(name, declaredIn: entity.index) else { return [] }
        let older = originalName.flatMap { $0 == name ? nil : "An older model calls it \($0)." }
        originalName = name
        return [remark] + (older.map { [$0] } ?? [])
    }

    /// Returns the argument for a merge rule; it names the property that determines the newer object as the
    /// class does.
    private func rule(_ rule: MergeRule?, _ entity: SchemaEntity) -> [String] {
        guard let rule else { return [] }
        guard case .fold(.newest(let by)) = rule,
            let column = entity.columnIndex(named: by).map({ entity.columns[$0] })
        else { return ["mergeRule: .\(rule.text)"] }
        let first = String(by.prefix { $0 != "." })
        let name = SwiftIdentifier.plain(
            names.property(first, declaredIn: column.declaringEntity))
        let path = name + by.dropFirst(first.count)
        return ["mergeRule: .newest(by: \(SwiftLiteral.text(path)))"]
    }

    private func property(_ attribute: AttributeDescription, _ entity: SchemaEntity)
        -> SwiftProperty
    {
        let name = names.property(attribute.name, declaredIn: entity.index)
        var attribute = attribute
        let definition = composites.definition(of: attribute, in: entity.description)
        let remarks = remarks(
            on: attribute.name, entity, originalName: &attribute.renamingIdentifier)
        guard attribute.type == .composite else {
            var unsaid: [String] = []
            if let derivation = attribute.derivationExpression {
                attribute.derivationExpression = paths.derivation(derivation, of: entity)
                if attribute.derivationExpression == nil {
                    unsaid.append(
                        "The model derives it, which cannot be expressed here: \(derivation).")
                }
            }
            var property = SwiftAttribute(attribute).property(name: name)
            property.remarks = remarks + unsaid + property.remarks
            if let rule = rule(attribute.mergeRule, entity).first {
                property.mark = "Attribute"
                property.arguments.append(rule)
            }
            return property
        }
        guard let definition else {
            return SwiftProperty(
                remarks: [
                    "\(attribute.name): a composite without elements, which cannot be a struct."
                ],
                name: name, type: "", isLeftOut: true)
        }
        if attribute.isTransient {
            var property = SwiftAttribute.unstored(
                attribute, name: name, type: definition.name,
                remark: "Transient: it is kept in the object, which does not track its changes.")
            property.remarks = remarks + property.remarks
            return property
        }
        var arguments =
            attribute.preservesValueInHistoryOnDeletion ? [".preserveValueOnDeletion"] : []
        arguments += SwiftRemarks.names(
            attribute.renamingIdentifier, attribute.versionHashModifier)
        arguments += rule(attribute.mergeRule, entity)
        return SwiftProperty(
            remarks: remarks + SwiftRemarks.userInfo(attribute.userInfo),
            mark: arguments.isEmpty ? nil : "Attribute", arguments: arguments, name: name,
            type: definition.name + (attribute.isOptional ? "?" : ""))
    }

    private func property(_ relationship: SchemaRelationship, _ entity: SchemaEntity)
        -> SwiftProperty
    {
        var description = relationship.description
        let name = names.property(description.name, declaredIn: entity.index)
        let destination = names.classes[relationship.destination]
        if description.isTransient {
            return SwiftProperty(
                remarks: [
                    "\(description.name): a transient relationship to \(destination), which a class cannot have."
                ] + SwiftRemarks.userInfo(description.userInfo),
                name: name, type: destination, isLeftOut: true)
        }
        let type =
            !description.isToMany
            ? "\(destination)?"
            : description.isOrdered ? "[\(destination)]" : "Set<\(destination)>"
        let remarks = remarks(
            on: description.name, entity, originalName: &description.renamingIdentifier)
        let arguments = arguments(of: description, entity)
        return SwiftProperty(
            remarks: remarks + SwiftRemarks.userInfo(description.userInfo),
            mark: arguments.isEmpty ? nil : "Relationship", arguments: arguments, name: name,
            type: type)
    }

    private func arguments(of relationship: RelationshipDescription, _ entity: SchemaEntity)
        -> [String]
    {
        var arguments: [String] = []
        if relationship.deleteRule != .nullify {
            arguments.append("deleteRule: .\(relationship.deleteRule.rawValue)")
        }
        // A model's counts of a to-one relationship have no meaning.
        if relationship.isToMany {
            if relationship.minimumCount > 0 {
                arguments.append("minimumModelCount: \(relationship.minimumCount)")
            }
            if relationship.maximumCount > 0 {
                arguments.append("maximumModelCount: \(relationship.maximumCount)")
            }
        }
        if !relationship.isOptional { arguments.append("isOptional: false") }
        arguments += SwiftRemarks.names(
            relationship.renamingIdentifier, relationship.versionHashModifier)
        arguments += rule(relationship.mergeRule, entity)
        if let inverse = inverses.inverse(of: relationship.name, declaredIn: entity.index) {
            let name = names.property(
                inverse.description.name, declaredIn: inverse.declaringEntity)
            let isItself =
                inverse.declaringEntity == entity.index
                && inverse.description.name == relationship.name
            let destination = schema.entity(named: relationship.destinationEntityName)
            let type = destination.map { names.classes[$0.index] } ?? ""
            // A key path to the annotated property itself would be circular.
            arguments.append(
                isItself
                    ? "inverse: \(SwiftLiteral.text(SwiftIdentifier.plain(name)))"
                    : "inverse: \\\(type).\(name)")
        }
        return arguments
    }

    // MARK: Keys

    private func keyLists(_ entity: SchemaEntity) -> [String] {
        let name = names.classes[entity.index]
        var lines: [String] = []
        for rule in entity.description.allUniquenessRules {
            let keys = rule.names.map { paths.keyPath($0, entity) }
            let list = keys.compactMap { $0.map { "\\.\($0)" } }
            let condition = rule.predicate.map { paths.condition($0, of: entity) }
            if list.count == keys.count, condition != .some(nil) {
                var arguments = ["[\(list.joined(separator: ", "))]"]
                if let condition = condition ?? nil {
                    arguments.append("where: \(SwiftLiteral.text(condition.predicateFormat))")
                }
                if rule.nilsAreEqual { arguments.append("nilsAreEqual: true") }
                if rule.isCaseInsensitive { arguments.append("caseInsensitive: true") }
                if rule.isDiacriticInsensitive { arguments.append("diacriticInsensitive: true") }
                lines += SwiftText.call("#Unique<\(name)>", arguments, indent: 4)
            } else {
                let remarks = rule.remarks.map { " \($0)" }.joined(separator: ",")
                lines += SwiftText.comment(
                    "Unique: \(rule.names.joined(separator: ", "))\(remarks), which key paths cannot express.",
                    indent: 4)
            }
        }
        var seen: Set<String> = []
        for index in entity.description.indexes {
            lines += self.lines(of: index, entity, &seen)
        }
        return lines
    }

    private func lines(
        of index: FetchIndexDescription, _ entity: SchemaEntity, _ seen: inout Set<String>
    ) -> [String] {
        let keys = index.elements.map { element in
            element.kind == .binary
                ? element.propertyName.flatMap { paths.keyPath($0, entity) } : nil
        }
        let isFalling = index.elements.contains { !$0.isAscending }
        let list = zip(index.elements, keys).compactMap { element, key in
            key.map { key in
                isFalling
                    ? ".\(element.isAscending ? "ascending" : "descending")(\\.\(key))"
                    : "\\.\(key)"
            }
        }
        guard list.count == keys.count, !list.isEmpty, Set(keys).count == keys.count else {
            // The old flag on a property that is not stored has never had an effect.
            if index.form == .indexed { return [] }
            let elements = index.elements.map { element in
                (element.propertyName ?? element.expression ?? "")
                    + (element.isAscending ? "" : " descending")
                    + (element.kind == .rTree ? " (r-tree)" : "")
            }
            return SwiftText.comment(
                "Index \(index.name), which cannot be expressed here: \(elements.joined(separator: ", ")).",
                indent: 4)
        }
        let text = "[\(list.joined(separator: ", "))]"
        guard seen.insert(text).inserted else { return [] }
        var lines: [String] = []
        if let condition = index.partialIndexPredicate {
            lines += SwiftText.comment(
                "The model limits this index to the objects where \(condition).", indent: 4)
        }
        return lines + SwiftText.call("#Index<\(names.classes[entity.index])>", [text], indent: 4)
    }
}
