// The origin of each column, and of each relationship that is stored as pairs.

extension MigrationPlanner {
    // MARK: Columns

    mutating func planColumns() {
        entities = new.entities.map { entity in
            guard let source = sources[entity.index], let match = matches[entity.index] else {
                return EntityMigration(
                    name: entity.name, source: nil,
                    columns: entity.columns.map { Self.initial($0) },
                    droppedColumns: [], sourceIndex: nil)
            }
            let oldEntity = old.entities[source]
            var columns: [ColumnMigration] = []
            var kept: Set<Int> = []
            for index in entity.columns.indices {
                let column = column(index, of: entity, from: oldEntity, match)
                if let source = column.sourceIndex { kept.insert(source) }
                columns.append(column)
            }
            let dropped = oldEntity.columns.indices.filter { !kept.contains($0) }
                .map { oldEntity.columns[$0].name }
            return EntityMigration(
                name: entity.name, source: oldEntity.name, columns: columns,
                droppedColumns: dropped, sourceIndex: source)
        }
    }

    private func column(
        _ index: Int, of entity: SchemaEntity, from source: SchemaEntity, _ match: PropertyMatch
    ) -> ColumnMigration {
        let column = entity.columns[index]
        if let relationship = column.relationship {
            return reference(column, relationship, of: entity.index, from: source)
        }
        guard let attribute = entity.attributes.firstIndex(where: { $0.columns.contains(index) })
        else { preconditionFailure("a column without a relationship has an attribute") }
        let description = entity.attributes[attribute].description
        let oldAttribute = match.attributes[attribute].map { source.attributes[$0].description }
        if let expression = description.derivationExpression {
            guard let oldAttribute, !oldAttribute.isTransient,
                oldAttribute.derivationExpression == expression,
                oldAttribute.type == description.type,
                let oldColumn = source.columnIndex(named: oldAttribute.name)
            else {
                return ColumnMigration(
                    name: column.name, origin: .derivation, conversion: nil, initialValue: .null,
                    nilValue: .null, sourceIndex: nil, links: [])
            }
            return kept(column, source, oldColumn, conversion: nil)
        }
        guard let oldAttribute, !oldAttribute.isTransient,
            let oldName = Self.elements(of: oldAttribute, description)[column.name],
            let oldColumn = source.columnIndex(named: oldName)
        else { return Self.initial(column) }
        guard case .attribute(let before) = source.columns[oldColumn].kind,
            case .attribute(let after) = column.kind
        else { return Self.initial(column) }
        let conversion = ValueConversion(from: before, to: after)
        // What needs a mapping comes from nowhere until there is one.
        guard before == after || conversion != nil else { return Self.initial(column) }
        return kept(column, source, oldColumn, conversion: conversion)
    }

    static func initial(_ column: SchemaColumn) -> ColumnMigration {
        ColumnMigration(
            name: column.name, origin: .initial, conversion: nil, initialValue: column.defaultValue,
            nilValue: .null, sourceIndex: nil, links: [])
    }

    private func kept(
        _ column: SchemaColumn, _ source: SchemaEntity, _ oldColumn: Int,
        conversion: ValueConversion?
    ) -> ColumnMigration {
        let before = source.columns[oldColumn]
        return ColumnMigration(
            name: column.name, origin: .column(before.name), conversion: conversion,
            initialValue: .null,
            nilValue: before.isOptional && !column.isOptional ? column.defaultValue : .null,
            sourceIndex: oldColumn, links: [])
    }

    /// For each column path of an attribute, the path in the old attribute. An attribute that is not composite has one
    /// path.
    static func elements(of old: AttributeDescription, _ new: AttributeDescription)
        -> [String: String]
    {
        guard new.type == .composite || old.type == .composite else { return [new.name: old.name] }
        guard new.type == old.type else { return [:] }
        var result: [String: String] = [:]
        let match = RenamingMatch(
            old.elements.map { .init($0.name, $0.renamingIdentifier) },
            new.elements.map { .init($0.name, $0.renamingIdentifier) })
        for (element, source) in zip(new.elements, match.sources) {
            guard let source else { continue }
            for (path, oldPath) in elements(of: old.elements[source], element) {
                result["\(new.name).\(path)"] = "\(old.name).\(oldPath)"
            }
        }
        return result
    }

    // MARK: References

    private func reference(
        _ column: SchemaColumn, _ relationship: Int, of entity: Int, from source: SchemaEntity
    ) -> ColumnMigration {
        let links = links(relationship, of: entity, from: source.index)
        if links.count == 1, links[0].ownerIsHolder, !links[0].isSymmetric,
            case .column(let holder, let index) = links[0].form,
            old.entities[holder].family.contains(source.index),
            agreesWithInverse(relationship, of: entity)
        {
            return kept(column, source, index, conversion: nil)
        }
        return ColumnMigration(
            name: column.name, origin: links.isEmpty ? .initial : .links, conversion: nil,
            initialValue: .null, nilValue: .null, sourceIndex: nil, links: links)
    }

    /// Whether the references of a relationship and of its inverse, if both lead to one object, say the same as they are: they
    /// do if they were each other's inverse. Else both are built, so that whoever is led to leads back.
    func agreesWithInverse(_ relationship: Int, of entity: Int) -> Bool {
        let here = new.entities[entity].relationships[relationship]
        guard let inverse = here.inverse else { return true }
        let there = new.entities[here.destination].relationships[inverse]
        guard case .column = there.storage else { return true }
        let ends = [(here.declaringEntity, relationship), (there.declaringEntity, inverse)].map {
            origins(ofRelationship: $1, of: $0)
        }
        guard let one = ends[0].first, let other = ends[1].first else {
            return bearers(of: there.declaringEntity).isEmpty
        }
        guard ends.allSatisfy({ $0.count == 1 }), case .column = one.storage,
            case .column = other.storage, let back = one.inverse
        else { return false }
        let counterpart = old.entities[one.destination].relationships[back]
        return counterpart.storage == other.storage
            && counterpart.declaringEntity == other.declaringEntity
    }

    /// What a relationship was with those who have it: one, unless it comes from several.
    private func origins(ofRelationship relationship: Int, of entity: Int) -> [SchemaRelationship] {
        var known: Set<Declared> = []
        return bearers(of: entity).compactMap { bearer in
            guard let own = matches[bearer.new]?.relationships[relationship] else { return nil }
            let origin = old.entities[bearer.old].relationships[own]
            let declared = Declared(
                entity: origin.declaringEntity, name: origin.description.name)
            return known.insert(declared).inserted ? origin : nil
        }
    }

    /// Who was connected with objects of an entity by what a relationship was, or its inverse.
    func links(_ relationship: Int, of entity: Int, from source: Int) -> [LinkOrigin] {
        if let own = matches[entity]?.relationships[relationship],
            let link = link(old.entities[source].relationships[own], owner: source)
        {
            return [link]
        }
        let described = new.entities[entity].relationships[relationship]
        guard let inverse = described.inverse, described.storage != .transient else { return [] }
        var links: [LinkOrigin] = []
        for (member, oldMember) in bearers(of: described.destination) {
            guard let own = matches[member]?.relationships[inverse],
                let link = link(old.entities[oldMember].relationships[own], owner: oldMember)?
                    .turned(owner: source)
            else { continue }
            if !links.contains(link) { links.append(link) }
        }
        return links
    }

    /// How the old model kept a relationship; nil if it did not.
    private func link(_ relationship: SchemaRelationship, owner: Int) -> LinkOrigin? {
        switch relationship.storage {
        case .column(let column):
            return LinkOrigin(
                form: .column(entity: relationship.declaringEntity, column: column),
                ownerIsHolder: true, isSymmetric: false, owner: owner)
        case .inverseColumn(let holder, let column):
            return LinkOrigin(
                form: .column(
                    entity: old.entities[holder].columns[column].declaringEntity, column: column),
                ownerIsHolder: false, isSymmetric: false, owner: owner)
        case .pairs(let pairs, let isSource):
            return LinkOrigin(
                form: .pairs(pairs), ownerIsHolder: isSource,
                isSymmetric: old.pairs[pairs].isSymmetric(old.entities), owner: owner)
        case .transient: return nil
        }
    }

    // MARK: Pairs

    mutating func planPairs() {
        var plans = new.pairs.map { pairs in origins(of: pairs) }.enumerated().map {
            PairsMigration(origins: $1, kept: kept($1, by: $0), isTurned: false)
        }
        // Rows cannot be those of two relationships.
        var users: [Int: Int] = [:]
        for plan in plans { if let kept = plan.kept { users[kept, default: 0] += 1 } }
        for (index, plan) in plans.enumerated() {
            guard let kept = plan.kept else { continue }
            let isSole = users[kept] == 1
            plans[index] = PairsMigration(
                origins: plan.origins, kept: isSole ? kept : nil,
                isTurned: isSole && !plan.origins[0].ownerIsHolder && !plan.origins[0].isSymmetric)
        }
        pairs = plans
    }

    private func origins(of pairs: SchemaPairs) -> [LinkOrigin] {
        var origins: [LinkOrigin] = []
        // Large families first: those that are in them have the same links.
        let owners = bearers(of: pairs.source).sorted {
            old.entities[$0.old].family.count > old.entities[$1.old].family.count
        }
        for (owner, oldOwner) in owners {
            for link in links(pairs.sourceRelationship, of: owner, from: oldOwner) {
                let isKnown = origins.contains { known in
                    known.form == link.form && known.ownerIsHolder == link.ownerIsHolder
                        && old.entities[known.owner].family.contains(link.owner)
                }
                if !isKnown { origins.append(link) }
            }
        }
        return origins
    }

    /// The old pairs that are the rows of new ones, if there are such.
    private func kept(_ origins: [LinkOrigin], by index: Int) -> Int? {
        guard origins.count == 1, case .pairs(let pairs) = origins[0].form,
            origins[0].isSymmetric == new.pairs[index].isSymmetric(new.entities)
        else { return nil }
        let link = origins[0]
        // Nobody whose objects go on loses them.
        let side = link.ownerIsHolder ? old.pairs[pairs].source : old.pairs[pairs].destination
        let owners = old.entities[link.owner].family
        let isComplete = survivors(of: side).allSatisfy { owners.contains($0.old) }
        return isComplete ? pairs : nil
    }

    /// Whether the members of a new relationship were kept otherwise, and have to be put where they are kept now.
    func isBuilt(_ relationship: SchemaRelationship, of entity: Int) -> Bool {
        switch relationship.storage {
        case .column(let column):
            bearers(of: entity).contains { entities[$0.new].columns[column].origin == .links }
        case .inverseColumn(let holder, let column):
            bearers(of: holder).contains { entities[$0.new].columns[column].origin == .links }
        case .pairs(let index, _): pairs[index].kept == nil && !pairs[index].origins.isEmpty
        case .transient: false
        }
    }
}
