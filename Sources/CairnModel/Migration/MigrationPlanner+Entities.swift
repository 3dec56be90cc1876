// Entities and hierarchies.
//
// Objects of one hierarchy share a number space, so two hierarchies cannot become one without new numbers, which Core Data does
// not infer either. A hierarchy that falls apart can: one part stays, the others get number spaces of their own.

extension MigrationPlanner {
    // MARK: Hierarchies

    /// Finds the old hierarchy whose number space each new hierarchy uses.
    mutating func planHierarchies() {
        /// By old root: the new hierarchies that come from it.
        var parts: [Int: [Int]] = [:]
        for root in new.entities where root.parent == nil {
            let oldRoots = Set(bearers(of: root.index).map { old.entities[$0.old].root })
            let own = sources[root.index].map { old.entities[$0].root }
            let home =
                own ?? oldRoots.min { old.entities[$0].name.comesBefore(old.entities[$1].name) }
            hierarchies.append(
                HierarchyMigration(root: root.index, source: home, isSplitOff: false))
            if let home { parts[home, default: []].append(hierarchies.count - 1) }
        }
        for (home, all) in parts where all.count > 1 {
            let stays = destinations[home].map { new.entities[$0].root }
            let keeper =
                all.first { hierarchies[$0].root == stays }
                ?? all.min {
                    name(of: hierarchies[$0]).comesBefore(name(of: hierarchies[$1]))
                }
            for index in all where index != keeper {
                hierarchies[index] = HierarchyMigration(
                    root: hierarchies[index].root, source: home, isSplitOff: true)
            }
        }
    }

    private func name(of hierarchy: HierarchyMigration) -> String {
        new.entities[hierarchy.root].name
    }

    private func hierarchy(of entity: Int) -> HierarchyMigration {
        let root = new.entities[entity].root
        guard let found = hierarchies.first(where: { $0.root == root }) else {
            preconditionFailure("every root has a hierarchy")
        }
        return found
    }

    /// Whether the objects of an entity would have to get into the number space of another hierarchy.
    private func isMerged(_ entity: Int) -> Bool {
        guard let source = sources[entity] else { return false }
        return hierarchy(of: entity).source != old.entities[source].root
    }

    // MARK: Entities

    mutating func compareEntities() {
        for entity in new.entities {
            if let source = sources[entity.index] {
                compare(old.entities[source], entity)
            } else if let rival = rivals[entity.index] {
                let winner = destinations[rival].map { new.entities[$0].name } ?? ""
                note(
                    .entity, .added, entity.index,
                    .no(
                        "new, although its renaming identifier is \(old.entities[rival].name)",
                        "\(winner) has the same renaming identifier"))
            } else {
                note(.entity, .added, entity.index, .yes("new", .metadata))
            }
        }
        for entity in old.entities where destinations[entity.index] == nil { remove(entity) }
    }

    private mutating func remove(_ entity: SchemaEntity) {
        var verdict = ModelChange.Verdict.yes(
            "removed", .metadata, loss: entity.isAbstract ? nil : "its objects")
        // References that may lead to its objects, and go on leading to others.
        let isReferred = old.entities.contains { other in
            other.relationships.contains { relationship in
                relationship.declaringEntity == other.index
                    && destinations[relationship.destination] != nil
                    && old.entities[relationship.destination].family.contains(entity.index)
                    && !relationship.description.isTransient
            }
        }
        if isReferred, !entity.isAbstract { verdict.cost = .keyPass }
        changes.append(ModelChange(.entity, .removed, entity.name, nil, verdict))
    }

    private mutating func compare(_ source: SchemaEntity, _ entity: SchemaEntity) {
        if source.name != entity.name {
            note(.entity, .renamed, entity.index, .yes("renamed from \(source.name)", .metadata))
        }
        compareParents(source, entity)
        if source.isAbstract, !entity.isAbstract {
            note(.entity, .changed, entity.index, .yes("no longer abstract", .metadata))
        } else if entity.isAbstract, !source.isAbstract {
            note(
                .entity, .changed, entity.index,
                .no("now abstract", "its own objects would have no entity"))
        }
        let (before, after) = (
            source.description.versionHashModifier, entity.description.versionHashModifier
        )
        if before != after {
            note(.entity, .changed, entity.index, .yes(Self.modifier(before, after), .metadata))
        }
    }

    private mutating func compareParents(_ source: SchemaEntity, _ entity: SchemaEntity) {
        let isMerged = isMerged(entity.index)
        let isSame =
            entity.parent.map { source.parent != nil && sources[$0] == source.parent }
            ?? (source.parent == nil)
        // Those below move with it.
        let isBelowMerged = entity.parent.map { sources[$0] != nil && self.isMerged($0) } ?? false
        if isSame, !isMerged || isBelowMerged { return }
        let before = source.parent.map { old.entities[$0].name } ?? "nothing"
        let after = entity.parent.map { new.entities[$0].name } ?? "nothing"
        var words = "parent changed from \(before) to \(after)"
        if isSame { words = "inherits from \(after), which moved to another hierarchy" }
        if isMerged {
            let others = hierarchy(of: entity.index).source.map { old.entities[$0].name } ?? ""
            note(
                .entity, .moved, entity.index,
                .no(words, "its objects would join the hierarchy of \(others)"))
        } else {
            note(
                .entity, .moved, entity.index,
                .yes(words, hierarchy(of: entity.index).isSplitOff ? .rowPass : .metadata))
        }
    }

    /// A change of the hash modifier in words.
    static func modifier(_ before: String?, _ after: String?) -> String {
        guard let after else { return "no longer has a hash modifier" }
        return "hash modifier changed to \(after)"
    }
}
