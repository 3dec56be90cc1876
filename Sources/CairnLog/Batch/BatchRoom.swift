// What batch inserts into one entity share: information about its columns, and memory. For a commit of one
// row, creating these would take longer than writing the row.
//
// Threads: used by the holder of the turn alone.

import CairnModel
import CairnStore

/// The plan and the memory of batch inserts into one entity.
struct BatchRoom: ~Copyable {
    private let catalog: Catalog
    private let entity: Int
    private let setOnly: Bool
    private let updates: Bool
    /// Whether the model's rules merge values.
    let merges: Bool
    /// The properties whose rules do more than take the row's value; empty if the rules are not applied.
    let merged: [MergedProperty]
    /// The same for other entities whose objects rows were about, for the columns that they share.
    private var mergedOfOthers: [Int: [MergedProperty]] = [:]
    /// Whether a rule may change an object although the row equals what is stored.
    let mergesEqual: Bool
    /// Whether merging may change the key by which an object was found.
    let mergesKeys: Bool
    /// The columns that keys are made of.
    let keyColumns: ColumnSet
    /// The columns of keys, the sources of derived attributes, and the columns that merging compares: the
    /// value itself is needed, wherever it is stored.
    let wholeColumns: ColumnSet
    /// The derived columns.
    let derived: DerivedColumns
    /// The columns that these derive from, one for each.
    let derivedFrom: [Int]
    /// The columns that an update leaves alone if the row does not name them.
    let kept: [Int]
    /// By column: whether it is one of `kept`.
    let keepsColumn: [Bool]
    /// The columns of relationships that are required in a new object.
    let mandatoryReferences: [Int]
    var probes: BatchProbes
    var key = KeyBuffer()
    var other = KeyBuffer()
    /// The rows that live in the open block.
    var rows = RowList()
    /// By merged property: whether the row's value is the newer one.
    var isNewer: [Bool] = []

    /// The properties that the rules of another entity merge, among the columns that a row shares with it.
    mutating func merged(of other: Int) -> [MergedProperty] {
        if let known = mergedOfOthers[other] { return known }
        let schema = catalog.schema
        let shared = ConflictRules.sharedColumns(
            schema.entities[entity], schema.entities[other], in: schema)
        let properties = MergedProperty.all(of: other, catalog, columns: shared.count)
        mergedOfOthers[other] = properties
        return properties
    }

    init(_ catalog: Catalog, entity: Int, setOnly: Bool, updates: Bool, merges: Bool) {
        self.catalog = catalog
        self.entity = entity
        self.setOnly = setOnly
        self.updates = updates
        self.merges = merges
        let stored = catalog.entities[entity]
        let keyColumns = stored.uniques.flatMap { catalog.uniques[$0].form.watched }
        self.keyColumns = ColumnSet(keyColumns)
        let merged =
            merges
            ? MergedProperty.all(of: entity, catalog, columns: stored.columns.count) : []
        self.merged = merged
        mergesEqual = merged.contains(where: \.mayChangeEqual)
        let mergesKeys = merged.contains {
            $0.isSum && keyColumns.contains($0.columns.lowerBound)
        }
        self.mergesKeys = mergesKeys
        probes = BatchProbes(
            entity, catalog, readsRows: updates, follows: updates, changesKeys: mergesKeys)
        let derived = DerivedColumns(entity, catalog.schema)
        self.derived = derived
        derivedFrom = derived.sources
        wholeColumns = ColumnSet(keyColumns + derivedFrom + merged.flatMap(\.compared))
        let description = catalog.description(of: entity)
        mandatoryReferences = stored.columns.indices.filter {
            stored.columns[$0].target != nil && !description.columns[$0].isOptional
        }
        let kept = stored.columns.indices.filter {
            setOnly || stored.columns[$0].target != nil || derived.contains($0)
        }
        self.kept = kept
        keepsColumn = stored.columns.indices.map(kept.contains)
    }

    /// Whether it fits a batch with these options.
    borrowing func fits(
        _ catalog: Catalog, entity: Int, setOnly: Bool, updates: Bool, merges: Bool
    ) -> Bool {
        self.catalog.describesSame(as: catalog) && self.entity == entity
            && self.setOnly == setOnly && self.updates == updates && self.merges == merges
    }
}
