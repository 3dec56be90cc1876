// Treemaps of a store's disk usage.
//
//   1. For a store in a folder: properties, row headers and dead rows by entity; indexes, as they are in
//      memory; checkpoints; and the rest of the segments. (StoreSpace)
//   2. For others: the tables, each a part of its entity. (The output of `cairn info`.)
//
// Threads: one.

import CairnInspection
import CairnLog
import CairnPictures
import CairnStore

/// Creates treemaps of stores.
enum SpacePicture {
    /// Returns the treemap of an open store.
    ///
    /// - Parameter place: the place from the command line.
    /// - Complexity: O(size of the content) for a store in a folder.
    static func treemap(
        of store: any CommandStore, at place: String, progress: ((String, Int) -> Void)? = nil
    ) throws -> SpaceTreemap {
        if let log = store as? LogStore {
            return treemap(
                of: try log.space(progress: progress), try LogStore.status(at: place).checkpoints)
        }
        let information = try StoreKinds.current.kind(of: place).information(of: place, opens: true)
        return treemap(ofTables: information.json)
    }

    /// Returns the treemap of a store in a folder.
    static func treemap(of space: StoreSpace, _ checkpoints: [StoreStatus.Checkpoint])
        -> SpaceTreemap
    {
        var groups = space.entities.map { group(of: $0) }
        groups.append(
            .init(
                "checkpoints",
                parts: [
                    .init(
                        "checkpoints", bytes: checkpoints.reduce(0) { $0 &+ UInt64($1.bytes) },
                        remark: "make opening fast; made again when they are gone")
                ]))
        groups.append(rest(of: space))
        groups.append(
            .init(
                "indexes",
                parts: space.indexes.map { index in
                    .init(
                        "\(index.entity): \(index.name ?? index.properties.joined(separator: ", "))",
                        bytes: index.memoryBytes, kind: .memory,
                        remark:
                            "\(index.kind.rawValue), \(PlainText.count(index.entries, "entry", "entries"))"
                    )
                }))
        return SpaceTreemap(groups)
    }

    private static func group(of entity: StoreSpace.Entity) -> SpaceTreemap.Group {
        var parts = entity.properties.map { property in
            SpaceTreemap.Part(
                property.name, bytes: property.liveBytes &+ property.largeValueBytes,
                property: property.name,
                remark: ([
                    property.largeValueBytes == 0
                        ? nil
                        : "\(PlainText.bytes(property.largeValueBytes)) of them in large values",
                    property.encodings.first.map { "stored as \($0.name)" },
                ] as [String?]).compactMap { $0 }.joined(separator: "; "))
        }
        let live = entity.properties.reduce(UInt64(0)) { $0 &+ $1.liveBytes }
        parts.append(
            .init(
                "heads", bytes: entity.liveBytes.less(live),
                remark: "of blocks, and numbers of objects"))
        parts.append(
            .init("dead", bytes: entity.bytes.less(entity.liveBytes), kind: .dead))
        return .init(
            entity.isHidden ? "\(entity.name) (pairs)" : entity.name,
            entity: entity.isHidden ? nil : entity.name, parts: parts)
    }

    /// Returns the content of segments other than the rows of entities.
    private static func rest(of space: StoreSpace) -> SpaceTreemap.Group {
        let bytes = space.segments.reduce(UInt64(0)) { $0 &+ $1.bytes }
        let live = space.segments.reduce(UInt64(0)) { $0 &+ $1.liveBytes }
        let known = space.entities.reduce(UInt64(0)) {
            $0 &+ $1.liveBytes &+ $1.largeValueBytes
        }
        let dead = space.entities.reduce(UInt64(0)) { $0 &+ $1.bytes.less($1.liveBytes) }
        return .init(
            "rest of the log",
            parts: [
                .init(
                    "in use", bytes: live.less(known), remark: "schema, history, heads of frames"),
                .init(
                    "dead", bytes: bytes.less(live).less(dead), kind: .dead,
                    remark: "blocks without any row that lives, commits, old values"),
            ])
    }

    /// Returns the treemap of a store in tables.
    private static func treemap(ofTables information: JSONValue) -> SpaceTreemap {
        let tables = information["tables"]?.elements ?? []
        var sizes: [(name: String, bytes: UInt64)] = tables.compactMap { table in
            guard let name = table["name"]?.string, let bytes = table["bytes"]?.number else {
                return nil
            }
            return (name, bytes)
        }
        var groups: [SpaceTreemap.Group] = []
        for entity in information["entities"]?.elements ?? [] {
            guard let name = entity["name"]?.string, let table = entity["table"]?.string,
                let index = sizes.firstIndex(where: { $0.name == table })
            else { continue }
            let isHidden = entity["hidden"] == .boolean(true)
            groups.append(
                .init(
                    isHidden ? "\(name) (pairs)" : name, entity: isHidden ? nil : name,
                    parts: [.init("table \(table)", bytes: sizes[index].bytes)]))
            sizes.remove(at: index)
        }
        groups.append(
            .init("other tables", parts: sizes.map { .init($0.name, bytes: $0.bytes) }))
        return SpaceTreemap(groups)
    }
}

extension UInt64 {
    /// Returns the difference, at least 0: successive measurements need not be consistent.
    fileprivate func less(_ other: UInt64) -> UInt64 { self - Swift.min(self, other) }
}
