// Attributes: they are compared, column by column, where the new model declares them.

extension MigrationPlanner {
    mutating func compareAttributes() {
        for entity in new.entities {
            for (index, attribute) in entity.attributes.enumerated()
            where attribute.declaringEntity == entity.index {
                compare(attribute, index, of: entity.index)
            }
        }
        removeAttributes()
    }

    private mutating func compare(_ attribute: SchemaAttribute, _ index: Int, of entity: Int) {
        let bearers = bearers(of: entity)
        // Of what is part of a new entity nothing is said.
        if bearers.isEmpty { return }
        var origins: [Declared] = []
        var lacking: [Int] = []
        for (bearer, source) in bearers {
            guard let match = matches[bearer]?.attributes[index] else {
                lacking.append(bearer)
                continue
            }
            let before = old.entities[source].attributes[match]
            let declared = Declared(
                entity: before.declaringEntity, name: before.description.name)
            if !origins.contains(declared) { origins.append(declared) }
        }
        // What is abstract has no objects that could lack it.
        if !origins.isEmpty { lacking.removeAll { new.entities[$0].isAbstract } }
        for origin in origins { compare(attribute, of: entity, origin) }
        if lacking.isEmpty { return }
        let name = attribute.description.name
        let rivals = lacking.compactMap { bearer in
            matches[bearer]?.rivalAttributes[index].flatMap { rival in
                sources[bearer].map { old.entities[$0].attributes[rival].description.name }
            }
        }
        if let rival = rivals.first {
            note(
                .attribute, .added, entity, name,
                .no(
                    "added, although its renaming identifier is \(rival)",
                    "another attribute has the same renaming identifier"))
            return
        }
        let whose =
            origins.isEmpty ? "" : " to " + Self.names(lacking.map { new.entities[$0] })
        if attribute.columns.isEmpty {
            note(
                .attribute, .added, entity, name,
                .yes("added\(whose): \(Self.words(attribute.description))", .metadata))
            return
        }
        for column in new.entities[entity].columns[attribute.columns] {
            note(
                .attribute, .added, entity, column.name,
                Self.addition(of: column, attribute.description, whose))
        }
    }

    /// The change for a column that objects do not have yet.
    private static func addition(
        of column: SchemaColumn, _ attribute: AttributeDescription, _ whose: String
    ) -> ModelChange.Verdict {
        let words = "added\(whose): \(Self.words(column.attribute ?? attribute))"
        if attribute.derivationExpression != nil { return .yes(words, .columnPass) }
        if !column.isOptional, column.defaultValue.isNull {
            return .no(words, "it is required, but stored objects have no value\(cure)")
        }
        return .yes(words, .metadata)
    }

    /// What can be done where an attribute is required that objects may have no value for. The model does not know of a default
    /// that a class computes.
    private static let cure =
        ": make it optional, give it a constant default (a computed one, like UUID(), only applies to new objects), "
        + "or set it in a mapping or migration stage"

    /// An attribute in a few words.
    static func words(_ attribute: AttributeDescription) -> String {
        var words = [attribute.type.rawValue]
        if !attribute.isOptional { words.append("required") }
        if attribute.isTransient { words.append("transient") }
        if !attribute.defaultValue.isNull { words.append("default \(attribute.defaultValue)") }
        if let expression = attribute.derivationExpression {
            words.append("derived from \(expression)")
        }
        return words.joined(separator: ", ")
    }

    // MARK: What was there

    private mutating func compare(_ attribute: SchemaAttribute, of entity: Int, _ origin: Declared)
    {
        let source = old.entities[origin.entity]
        guard let index = source.attributeIndex(named: origin.name) else { return }
        let (before, after) = (source.attributes[index].description, attribute.description)
        let name = after.name
        if destinations[origin.entity] != entity {
            note(
                .attribute, .moved, entity, name,
                .yes("moved here from \(todaysName(of: origin.entity))", .metadata))
        }
        if before.name != name {
            note(.attribute, .renamed, entity, name, .yes("renamed from \(before.name)", .metadata))
        }
        if before.isTransient != after.isTransient {
            compareTransience(before, attribute, of: entity)
        } else if before.isTransient {
            if before.type != after.type || before.isOptional != after.isOptional {
                note(
                    .attribute, .changed, entity, name,
                    .yes("changed to \(Self.words(after)), which is not stored", .metadata))
            }
        } else {
            compareDerivations(before, after, of: entity)
            compareColumns(before, attribute, of: entity, source)
        }
        if before.versionHashModifier != after.versionHashModifier {
            note(
                .attribute, .changed, entity, name,
                .yes(
                    Self.modifier(before.versionHashModifier, after.versionHashModifier), .metadata)
            )
        }
        if Self.hasOtherLimits(before, after) {
            note(
                .attribute, .changed, entity, name,
                .yes("validation changed; stored values are not checked", .nothing))
        }
    }

    private mutating func compareTransience(
        _ before: AttributeDescription, _ attribute: SchemaAttribute, of entity: Int
    ) {
        if attribute.description.isTransient {
            note(
                .attribute, .changed, entity, attribute.description.name,
                .yes("now transient", .metadata, loss: "its values"))
            return
        }
        for column in new.entities[entity].columns[attribute.columns] {
            var verdict = Self.addition(of: column, attribute.description, "")
            verdict.words = "no longer transient"
            note(.attribute, .changed, entity, column.name, verdict)
        }
    }

    private mutating func compareDerivations(
        _ before: AttributeDescription, _ after: AttributeDescription, of entity: Int
    ) {
        guard before.derivationExpression != after.derivationExpression else { return }
        guard let expression = after.derivationExpression else {
            note(
                .attribute, .changed, entity, after.name,
                .yes("no longer derived, keeps its values", .metadata))
            return
        }
        note(
            .attribute, .changed, entity, after.name,
            .yes(
                "now derived from \(expression)", .columnPass,
                loss: before.derivationExpression == nil ? "its own values" : nil))
    }

    private mutating func compareColumns(
        _ before: AttributeDescription, _ attribute: SchemaAttribute, of entity: Int,
        _ source: SchemaEntity
    ) {
        let after = attribute.description
        if (before.type == .composite) != (after.type == .composite) {
            note(
                .attribute, .changed, entity, after.name,
                Self.typeChange(before.type, after.type))
            return
        }
        let paths = Self.elements(of: before, after)
        for column in new.entities[entity].columns[attribute.columns] {
            guard let path = paths[column.name], let index = source.columnIndex(named: path) else {
                note(
                    .attribute, .added, entity, column.name,
                    Self.addition(of: column, column.attribute ?? after, ""))
                continue
            }
            if after.type == .composite,
                column.name.dropFirst(after.name.utf8.count)
                    != path.dropFirst(before.name.utf8.count)
            {
                note(
                    .attribute, .renamed, entity, column.name,
                    .yes("renamed from \(path)", .metadata)
                )
            }
            compare(
                source.columns[index], column, of: entity,
                isDerived: after.derivationExpression != nil)
        }
        let kept = Set(paths.values)
        for column in source.columns where column.declaringEntity == source.index {
            guard column.attribute != nil, column.name.hasPrefix(before.name + "."),
                before.type == .composite, !kept.contains(column.name)
            else { continue }
            note(
                .attribute, .removed, entity, column.name,
                .yes("removed", .metadata, loss: "its values"))
        }
    }

    private mutating func compare(
        _ before: SchemaColumn, _ after: SchemaColumn, of entity: Int, isDerived: Bool
    ) {
        guard case .attribute(let oldType) = before.kind, case .attribute(let type) = after.kind
        else { return }
        if oldType != type {
            // What is derived is computed anew.
            note(
                .attribute, .changed, entity, after.name,
                isDerived
                    ? .yes("changed from \(oldType.rawValue) to \(type.rawValue)", .columnPass)
                    : Self.typeChange(oldType, type))
        }
        if before.isOptional, !after.isOptional {
            let verdict: ModelChange.Verdict =
                if isDerived {
                    .yes("now required", .metadata)
                } else if after.defaultValue.isNull {
                    .no("now required", "stored objects may have no value\(Self.cure)")
                } else {
                    .yes("now required: nil becomes the default \(after.defaultValue)", .metadata)
                }
            note(.attribute, .changed, entity, after.name, verdict)
        } else if after.isOptional, !before.isOptional {
            note(.attribute, .changed, entity, after.name, .yes("now optional", .metadata))
        }
        if before.defaultValue != after.defaultValue {
            let words =
                after.defaultValue.isNull
                ? "no longer has a default"
                : "default for new objects changed to \(after.defaultValue)"
            note(.attribute, .changed, entity, after.name, .yes(words, .metadata))
        }
    }

    private static func typeChange(_ before: AttributeType, _ after: AttributeType)
        -> ModelChange.Verdict
    {
        let words = "changed from \(before.rawValue) to \(after.rawValue)"
        if ValueConversion(from: before, to: after) != nil {
            return .yes(words, .metadata, beyondCoreData: true)
        }
        // Core Data does not infer those that involve decimals either. Becoming single precision rounds.
        let convertsNumbers =
            after != .float
            && [before, after].allSatisfy { $0.isNumber && $0 != .decimal && $0 != .boolean }
        return .no(
            words, "there is no conversion from \(before.rawValue) to \(after.rawValue)",
            convertsNumbers: convertsNumbers)
    }

    /// Whether other values are valid than before.
    private static func hasOtherLimits(
        _ before: AttributeDescription, _ after: AttributeDescription
    )
        -> Bool
    {
        if limits(before) != limits(after) { return true }
        let match = RenamingMatch(
            before.elements.map { .init($0.name, $0.renamingIdentifier) },
            after.elements.map { .init($0.name, $0.renamingIdentifier) })
        return zip(after.elements, match.sources).contains { element, source in
            source.map { hasOtherLimits(before.elements[$0], element) } ?? false
        }
    }

    /// What decides which values are valid, apart from the type.
    private static func limits(_ attribute: AttributeDescription) -> AttributeDescription {
        var limits = AttributeDescription("", .undefined)
        limits.minimumValue = attribute.minimumValue
        limits.maximumValue = attribute.maximumValue
        limits.minimumLength = attribute.minimumLength
        limits.maximumLength = attribute.maximumLength
        limits.regularExpression = attribute.regularExpression
        limits.validationRules = attribute.validationRules
        return limits
    }

    // MARK: What is gone

    private mutating func removeAttributes() {
        for entity in old.entities {
            for (index, attribute) in entity.attributes.enumerated()
            where attribute.declaringEntity == entity.index {
                remove(attribute, index, of: entity.index)
            }
        }
    }

    private mutating func remove(_ attribute: SchemaAttribute, _ index: Int, of entity: Int) {
        let survivors = survivors(of: entity)
        var losers = survivors.filter { matches[$0.new]?.attributes.contains(index) != true }
        if losers.isEmpty { return }
        let isGone = losers.count == survivors.count
        // What is abstract has lost nothing.
        if !isGone { losers.removeAll { old.entities[$0.old].isAbstract } }
        if losers.isEmpty { return }
        let whose = isGone ? "" : " from " + Self.names(losers.map { new.entities[$0.new] })
        changes.append(
            ModelChange(
                .attribute, .removed, todaysName(of: entity), attribute.description.name,
                .yes(
                    "removed\(whose)", .metadata,
                    loss: attribute.columns.isEmpty ? nil : "its values")))
    }
}
