// The numbers that a schema frame assigns to the elements of its model.                             Format 70
//
// The document lists entities in the order of the catalog: those of the model, then the hidden ones. The list
// is compared with the catalog that is made from it, so nothing is validated here.
//
// Threads: a value.

import CairnFormat
import CairnModel
import FoundationEssentials

/// The numbers in a schema frame of a store that was migrated.
struct DocumentNumbers: KnownNumbers {
    let next: CatalogNumbers
    private let schema: Schema
    private let entities: [SchemaDocumentEntity]
    private let nextProperties: [UInt32: UInt32]

    init(_ schema: Schema, _ entities: [SchemaDocumentEntity], _ next: SchemaDocumentNumbers) {
        self.schema = schema
        self.entities = entities
        var numbers = CatalogNumbers()
        numbers.entity = next.entity
        numbers.tree = next.tree
        numbers.setLeftVersions(next.left ?? [])
        self.next = numbers
        nextProperties = Dictionary(
            next.properties.map { ($0.tree, $0.next) }, uniquingKeysWith: { first, _ in first })
    }

    private func entity(_ entity: Int) -> SchemaDocumentEntity? {
        entity < entities.count ? entities[entity] : nil
    }

    private func property(_ column: Int, of entity: Int) -> SchemaDocumentProperty? {
        guard let entity = self.entity(entity), column < entity.properties.count else { return nil }
        return entity.properties[column]
    }

    func treeID(ofRoot root: Int) -> UInt32? { entity(root)?.tree }

    func nextProperty(ofRoot root: Int) -> UInt32? {
        entity(root).flatMap { nextProperties[$0.tree] }
    }

    func entityID(_ entity: Int) -> UInt32? { self.entity(entity)?.id }

    func propertyID(_ column: Int, of entity: Int) -> UInt32? { property(column, of: entity)?.id }

    func orderID(besides column: Int, of entity: Int) -> UInt32? {
        // Order keys come after the columns, in the order of their references.
        let columns: Int
        let references: [Int]
        if entity < schema.entities.count {
            columns = schema.entities[entity].columns.count
            references = schema.orderedReferences[entity]
        } else {
            columns = 2
            references = schema.orderedEnds(of: schema.pairs[entity - schema.entities.count])
        }
        guard let place = references.firstIndex(of: column) else { return nil }
        return property(columns + place, of: entity)?.id
    }

    func past(of column: Int, _ entity: Int) -> ColumnPast? {
        guard let property = property(column, of: entity) else { return nil }
        return ColumnPast(property)
    }
}

extension ColumnPast {
    /// The past of a property in a schema frame; nil if there is none, or an invalid one.
    fileprivate init?(_ property: SchemaDocumentProperty) {
        if property.initial == nil, property.nils == nil { return nil }
        self.init()
        if let initial = property.initial {
            guard let cell = PastCell(initial, of: property.kind) else { return nil }
            self = ColumnPast(since: initial.before, initialValue: cell)
        }
        for filling in property.nils ?? [] {
            guard let cell = PastCell(filling, of: property.kind) else { return nil }
            require(since: filling.before, cell)
        }
    }
}

extension SchemaDocumentProperty {
    /// Records what replaces cells that older blocks lack.
    mutating func note(_ past: ColumnPast?) {
        guard let past, !past.isPlain else { return }
        if !past.initialValue.isNull {
            initial = SchemaDocumentPast(before: past.since, past.initialValue)
        }
        if !past.nilValues.isEmpty {
            nils = past.nilValues.map { SchemaDocumentPast(before: $0.since, $0.value) }
        }
    }
}

extension SchemaDocumentPast {
    fileprivate init(before version: UInt32, _ cell: PastCell) {
        self.init(before: version)
        switch cell {
        case .null: preconditionFailure("nil needs no replacement")
        case .integer(let value): integer = value
        case .double(let bits): double = bits
        case .float(let bits): float = bits
        case .bytes(let bytes): self.bytes = Data(bytes).base64EncodedString()
        }
    }
}

extension PastCell {
    fileprivate init?(_ past: SchemaDocumentPast, of kind: PropertyKind) {
        switch kind.column {
        case .integer:
            guard let value = past.integer, kind.integers?.contains(value) ?? true else {
                return nil
            }
            self = .integer(value)
        case .double:
            guard let bits = past.double else { return nil }
            self = .double(bits: bits)
        case .float:
            guard let bits = past.float else { return nil }
            self = .float(bits: bits)
        case .bytes, .fixed16:
            guard let bytes = past.bytes.flatMap({ Data(base64Encoded: $0) }),
                kind.column == .bytes
                    ? bytes.count <= FormatLimits.maximumPastCell : bytes.count == 16
            else { return nil }
            self = .bytes(Array(bytes))
        }
    }
}
