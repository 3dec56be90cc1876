// Relationships: they are compared where the new model declares them.
//
// What a relationship was and what it is now may be kept in different places: as a column, as the column of the inverse, as
// pairs. Where it has to be put elsewhere (`isBuilt`), the change that is the cause pays for it.

extension MigrationPlanner {
    mutating func compareRelationships() {
        for entity in new.entities {
            for (index, relationship) in entity.relationships.enumerated()
            where relationship.declaringEntity == entity.index {
                compare(relationship, index, of: entity.index)
            }
        }
        for entity in old.entities {
            for (index, relationship) in entity.relationships.enumerated()
            where relationship.declaringEntity == entity.index {
                remove(relationship, index, of: entity.index)
            }
        }
    }

    private mutating func compare(_ relationship: SchemaRelationship, _ index: Int, of entity: Int)
    {
        let bearers = bearers(of: entity)
        if bearers.isEmpty { return }
        var origins: [Declared] = []
        var lacking: [(new: Int, old: Int)] = []
        for (bearer, source) in bearers {
            guard let match = matches[bearer]?.relationships[index] else {
                lacking.append((bearer, source))
                continue
            }
            let declared = declared(old.entities[source].relationships[match], old)
            if !origins.contains(declared) { origins.append(declared) }
        }
        if !origins.isEmpty { lacking.removeAll { new.entities[$0.new].isAbstract } }
        for origin in origins { compare(relationship, index, of: entity, origin) }
        if !lacking.isEmpty { add(relationship, index, of: entity, lacking, to: origins.isEmpty) }
    }

    private func declared(_ relationship: SchemaRelationship, _ schema: Schema) -> Declared {
        Declared(entity: relationship.declaringEntity, name: relationship.description.name)
    }

    // MARK: What is new

    private mutating func add(
        _ relationship: SchemaRelationship, _ index: Int, of entity: Int,
        _ lacking: [(new: Int, old: Int)], to all: Bool
    ) {
        let description = relationship.description
        let rivals = lacking.compactMap { bearer in
            matches[bearer.new]?.rivalRelationships[index].map {
                old.entities[bearer.old].relationships[$0].description.name
            }
        }
        if let rival = rivals.first {
            note(
                .relationship, .added, entity, description.name,
                .no(
                    "added, although its renaming identifier is \(rival)",
                    "another relationship has the same renaming identifier"))
            return
        }
        let whose = all ? "" : " to " + Self.names(lacking.map { new.entities[$0.new] })
        let words = "added\(whose): \(Self.words(description))"
        let hasLinks = lacking.contains { !links(index, of: $0.new, from: $0.old).isEmpty }
        let isBuilt = isBuilt(relationship, of: entity)
        var verdict = ModelChange.Verdict.yes(words, isBuilt ? .columnPass : .metadata)
        if !description.isToMany, !description.isOptional, !description.isTransient {
            let hasObjects = lacking.contains { !new.entities[$0.new].isAbstract }
            if hasLinks {
                verdict = .depends(
                    words, .ifNoneMissing, "it is required, but objects may have no target",
                    isBuilt ? .columnPass : .keyPass)
            } else if hasObjects {
                verdict = .no(words, "it is required, but objects have no target")
            }
        }
        note(.relationship, .added, entity, description.name, verdict)
    }

    /// A relationship in a few words.
    private static func words(_ relationship: RelationshipDescription) -> String {
        var words = [
            relationship.isToMany
                ? "to many \(relationship.destinationEntityName)"
                : "to one \(relationship.destinationEntityName)"
        ]
        if !relationship.isOptional { words.append("required") }
        if relationship.isOrdered { words.append("ordered") }
        if relationship.isTransient { words.append("transient") }
        if let inverse = relationship.inverseName { words.append("inverse \(inverse)") }
        return words.joined(separator: ", ")
    }

    // MARK: What was there

    private mutating func compare(
        _ relationship: SchemaRelationship, _ index: Int, of entity: Int, _ origin: Declared
    ) {
        let source = old.entities[origin.entity]
        guard let position = source.relationshipIndex(named: origin.name) else { return }
        let before = source.relationships[position]
        let (was, now) = (before.description, relationship.description)
        func note(_ action: ModelChange.Action, _ verdict: ModelChange.Verdict) {
            self.note(.relationship, action, entity, now.name, verdict)
        }
        if destinations[origin.entity] != entity {
            note(.moved, .yes("moved here from \(todaysName(of: origin.entity))", .metadata))
        }
        if was.name != now.name { note(.renamed, .yes("renamed from \(was.name)", .metadata)) }
        if was.versionHashModifier != now.versionHashModifier {
            note(
                .changed,
                .yes(Self.modifier(was.versionHashModifier, now.versionHashModifier), .metadata))
        }
        if was.deleteRule != now.deleteRule {
            note(
                .changed,
                .yes(
                    "delete rule changed from \(was.deleteRule.rawValue) to \(now.deleteRule.rawValue)",
                    .metadata))
        }
        guard !was.isTransient, !now.isTransient else {
            compareTransience(before, relationship, of: entity)
            return
        }
        if let verdict = destination(before, relationship) { note(.changed, verdict) }
        let inverse = inverse(before, relationship, of: entity)
        if let inverse { note(.changed, inverse) }
        if was.isToMany != now.isToMany {
            note(.changed, number(was, now, isBuilt: isBuilt(relationship, of: entity)))
        }
        if was.isOptional != now.isOptional {
            if now.isOptional || now.isToMany {
                // How many members there have to be is asked when an object is saved.
                note(.changed, .yes(now.isOptional ? "now optional" : "now required", .metadata))
            } else {
                note(
                    .changed,
                    .depends(
                        "now required", .ifNoneMissing, "objects may have no target", .keyPass))
            }
        } else if was.isToMany, !now.isToMany, !now.isOptional {
            note(
                .changed,
                .depends(
                    "now required and to-one", .ifNoneMissing, "objects may have no members",
                    .keyPass))
        }
        guard now.isToMany else {
            if !was.isToMany, inverse?.inferability != .no,
                !agreesWithInverse(index, of: entity)
            {
                note(.changed, Self.match(isOptional: now.isOptional))
            }
            return
        }
        let wasOrdered = was.isToMany && was.isOrdered
        if wasOrdered != now.isOrdered {
            note(
                .changed,
                now.isOrdered
                    ? .yes("now ordered", .metadata)
                    : .yes("no longer ordered", .metadata, loss: "the order of its members"))
        }
        guard was.isToMany else { return }
        if was.minimumCount != now.minimumCount || was.maximumCount != now.maximumCount {
            note(
                .changed,
                .yes(
                    "now allows \(Self.count(now)) members; stored ones are not checked",
                    .metadata))
        }
    }

    private static func count(_ relationship: RelationshipDescription) -> String {
        switch (relationship.minimumCount, relationship.maximumCount) {
        case (0, 0): "any number of"
        case (let least, 0): "\(least) or more"
        case (let least, let most): "\(least) to \(most)"
        }
    }

    private mutating func compareTransience(
        _ before: SchemaRelationship, _ relationship: SchemaRelationship, of entity: Int
    ) {
        let (was, now) = (before.description, relationship.description)
        if was.isTransient, now.isTransient {
            if Self.words(was) != Self.words(now) {
                note(
                    .relationship, .changed, entity, now.name,
                    .yes("changed to \(Self.words(now)), which is not stored", .metadata))
            }
        } else if now.isTransient {
            note(
                .relationship, .changed, entity, now.name,
                .yes("now transient", .metadata, loss: "its members"))
        } else if !now.isToMany, !now.isOptional {
            note(
                .relationship, .changed, entity, now.name,
                .no("no longer transient", "it is required, but objects have no target"))
        } else {
            note(
                .relationship, .changed, entity, now.name,
                .yes("no longer transient", .metadata))
        }
    }

    /// What is said of references whose inverse leads to one object as well, and did not before.
    private static func match(isOptional: Bool) -> ModelChange.Verdict {
        let words = "inverse is now to-one"
        let loss = "the targets of all but one of the objects with the same target"
        return isOptional
            ? .yes(words, .columnPass, loss: loss)
            : .depends(
                words, .ifNoneMissing,
                "it is required, but several objects may have the same target",
                .columnPass, loss: loss)
    }

    private func number(
        _ was: RelationshipDescription, _ now: RelationshipDescription, isBuilt: Bool
    ) -> ModelChange.Verdict {
        let cost: MigrationCost = isBuilt ? .columnPass : .metadata
        if now.isToMany { return .yes("changed from to-one to to-many", cost) }
        let which = was.isOrdered ? "the first" : "the oldest"
        return .yes(
            "changed from to-many to to-one", cost, loss: "all members except \(which)")
    }

    /// What is said of where a relationship leads; nil if it is the same as before.
    private func destination(_ before: SchemaRelationship, _ after: SchemaRelationship)
        -> ModelChange.Verdict?
    {
        let entity = new.entities[after.destination]
        let was = old.entities[before.destination].name
        guard let today = destinations[before.destination] else {
            return .no(
                "destination changed from \(was) to \(entity.name)",
                "\(was) is not in the new model, and is not the renaming identifier of \(entity.name)"
            )
        }
        if today == after.destination { return nil }
        if entity.family.contains(today) {
            return .yes(
                "destination changed from \(was) to \(entity.name)", .metadata, beyondCoreData: true
            )
        }
        return .no(
            "destination changed from \(was) to \(entity.name)",
            "objects of \(new.entities[today].name) are not all \(entity.name)")
    }

    /// What is said of the inverse; nil if it is the same as before.
    private func inverse(
        _ before: SchemaRelationship, _ after: SchemaRelationship, of entity: Int
    ) -> ModelChange.Verdict? {
        let was = before.inverse.map {
            declared(old.entities[before.destination].relationships[$0], old)
        }
        let cost: MigrationCost = isBuilt(after, of: entity) ? .columnPass : .metadata
        guard let inverse = after.inverse else {
            return was.map { .yes("no longer has an inverse, was \($0.name)", cost) }
        }
        let name = new.entities[after.destination].relationships[inverse].description.name
        var origins: [Declared] = []
        for (bearer, source) in bearers(of: after.destination) {
            guard let match = matches[bearer]?.relationships[inverse] else { continue }
            let relationship = old.entities[source].relationships[match]
            if !relationship.description.isTransient { origins.append(declared(relationship, old)) }
        }
        let words = "inverse changed from \(was?.name ?? "none") to \(name)"
        if origins.isEmpty { return .yes(words, cost) }
        if let was, origins.allSatisfy({ $0 == was }) { return nil }
        return .no(words, "\(name) was not its inverse, so they may be inconsistent")
    }

    // MARK: What is gone

    private mutating func remove(_ relationship: SchemaRelationship, _ index: Int, of entity: Int) {
        let survivors = survivors(of: entity)
        var losers = survivors.filter { matches[$0.new]?.relationships.contains(index) != true }
        if losers.isEmpty { return }
        let isGone = losers.count == survivors.count
        if !isGone { losers.removeAll { old.entities[$0.old].isAbstract } }
        if losers.isEmpty { return }
        let whose = isGone ? "" : " from " + Self.names(losers.map { new.entities[$0.new] })
        // The other side may still know who belongs together.
        let isKnown =
            relationship.inverse.map { inverse in
                self.survivors(of: relationship.destination).contains {
                    matches[$0.new]?.relationships.contains(inverse) == true
                }
            } ?? false
        let isLost = !relationship.description.isTransient && !isKnown
        changes.append(
            ModelChange(
                .relationship, .removed, todaysName(of: entity), relationship.description.name,
                .yes("removed\(whose)", .metadata, loss: isLost ? "its members" : nil)))
    }
}
