// A schema frame's document in plain JSON.                                            Format 70
//
// Threads: one reader in one thread.

import CairnFormat
import CairnModel

/// The contents of a schema frame, parsed without the general decoder.
struct PlainSchemaDocument {
    var format: UInt32 = 0
    var version: UInt32 = 0
    var entities: [SchemaDocumentEntity] = []
    var relationships: [SchemaDocumentRelationship] = []
    var model = ManagedObjectModel()
    var next: SchemaDocumentNumbers?

    /// - Throws: `NotPlainJSON` if the document has another form.
    init(_ payload: UnsafeRawBufferPointer) throws(NotPlainJSON) {
        var json = PlainJSON(payload)
        var count = 0
        var keys = try json.object()
        while let key = try json.key(&keys) {
            switch key {
            case "format": format = try json.uint32()
            case "version": version = try json.uint32()
            case "model": model = try ManagedObjectModel(plain: &json)
            case "entities":
                try json.array()
                while try json.element(after: entities.count) {
                    entities.append(try SchemaDocumentEntity(plain: &json))
                }
            case "relationships":
                try json.array()
                while try json.element(after: relationships.count) {
                    relationships.append(try SchemaDocumentRelationship(plain: &json))
                }
            case "next":
                next = try SchemaDocumentNumbers(plain: &json)
                count -= 1
            default: throw NotPlainJSON()
            }
            count += 1
        }
        try json.end()
        // No key occurs twice, so all are present.
        guard count == 5 else { throw NotPlainJSON() }
    }
}

extension SchemaDocumentEntity {
    fileprivate init(plain json: inout PlainJSON) throws(NotPlainJSON) {
        self.init(id: 0, name: "", tree: 0, properties: [])
        var count = 0
        var keys = try json.object()
        while let key = try json.key(&keys) {
            count += 1
            switch key {
            case "id": id = try json.uint32()
            case "name": name = try json.string()
            case "tree": tree = try json.uint32()
            case "abstract": abstract = try json.bool()
            case "hidden": hidden = try json.bool()
            case "constraints": constraints = try json.stringLists()
            case "properties":
                try json.array()
                while try json.element(after: properties.count) {
                    properties.append(try SchemaDocumentProperty(plain: &json))
                }
            case "parent":
                parent = try json.uint32()
                count -= 1
            default: throw NotPlainJSON()
            }
        }
        guard count == 7 else { throw NotPlainJSON() }
    }
}

extension SchemaDocumentProperty {
    fileprivate init(plain json: inout PlainJSON) throws(NotPlainJSON) {
        self.init(id: 0, name: "", kind: .integer16, optional: false)
        var count = 0
        var keys = try json.object()
        while let key = try json.key(&keys) {
            count += 1
            switch key {
            case "id": id = try json.uint32()
            case "name": name = try json.string()
            case "kind":
                guard let known = PropertyKind(rawValue: try json.string()) else {
                    throw NotPlainJSON()
                }
                kind = known
            case "column": column = try json.string()
            case "optional": optional = try json.bool()
            case "target":
                target = try json.uint32()
                count -= 1
            case "initial":
                initial = try SchemaDocumentPast(plain: &json)
                count -= 1
            case "nils":
                var pasts: [SchemaDocumentPast] = []
                try json.array()
                while try json.element(after: pasts.count) {
                    pasts.append(try SchemaDocumentPast(plain: &json))
                }
                nils = pasts
                count -= 1
            default: throw NotPlainJSON()
            }
        }
        guard count == 5 else { throw NotPlainJSON() }
    }
}

extension SchemaDocumentPast {
    fileprivate init(plain json: inout PlainJSON) throws(NotPlainJSON) {
        self.init(before: 0)
        var count = 0
        var keys = try json.object()
        while let key = try json.key(&keys) {
            count += 1
            switch key {
            case "before": before = try json.uint32()
            case "integer": integer = try json.int64()
            case "double": double = try json.uint64()
            case "float": float = try json.uint32()
            case "bytes": bytes = try json.string()
            default: throw NotPlainJSON()
            }
        }
        guard count == 2, before != 0 else { throw NotPlainJSON() }
    }
}

extension SchemaDocumentNumbers {
    fileprivate init(plain json: inout PlainJSON) throws(NotPlainJSON) {
        self.init(entity: 0, tree: 0, properties: [])
        var count = 0
        var keys = try json.object()
        while let key = try json.key(&keys) {
            count += 1
            switch key {
            case "entity": entity = try json.uint32()
            case "tree": tree = try json.uint32()
            case "properties":
                try json.array()
                while try json.element(after: properties.count) {
                    var next = Tree(tree: 0, next: 0)
                    var known = 0
                    var keys = try json.object()
                    while let key = try json.key(&keys) {
                        known += 1
                        switch key {
                        case "tree": next.tree = try json.uint32()
                        case "next": next.next = try json.uint32()
                        default: throw NotPlainJSON()
                        }
                    }
                    guard known == 2 else { throw NotPlainJSON() }
                    properties.append(next)
                }
            case "left":
                left = try json.strings()
                count -= 1
            default: throw NotPlainJSON()
            }
        }
        guard count == 3 else { throw NotPlainJSON() }
    }
}

extension SchemaDocumentRelationship {
    fileprivate init(plain json: inout PlainJSON) throws(NotPlainJSON) {
        self.init(entity: 0, name: "", form: .inverse, through: 0, property: 0)
        var count = 0
        var keys = try json.object()
        while let key = try json.key(&keys) {
            count += 1
            switch key {
            case "entity": entity = try json.uint32()
            case "name": name = try json.string()
            case "form":
                guard let known = Form(rawValue: try json.string()) else { throw NotPlainJSON() }
                form = known
            case "through": through = try json.uint32()
            case "property": property = try json.uint32()
            case "order":
                order = try json.uint32()
                count -= 1
            default: throw NotPlainJSON()
            }
        }
        guard count == 5 else { throw NotPlainJSON() }
    }
}
