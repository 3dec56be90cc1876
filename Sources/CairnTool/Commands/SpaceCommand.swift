// cairn space: prints the disk usage of a store.

import ArgumentParser
import CairnInspection
import CairnLog
import CairnStore

/// Prints live and dead bytes by entity and property, index, segment.
struct SpaceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "space",
        abstract: "Print disk usage by entity, property, index and segment.",
        discussion: """
            Bytes of entities and properties are stored sizes in the blocks with their rows; dead \
            bytes belong to rows that have since been changed or deleted. The column large counts \
            values stored outside blocks, for live rows. A block without live rows only counts as \
            dead bytes of its segment. Indexes are in memory, and in checkpoints, which contain \
            nothing that could not be rebuilt. The command reads every block.

            Example:
              cairn space shop.cairn
            """)

    @OptionGroup var place: FolderArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        let console = Console.current
        let folder = try place.folder(for: .space)
        let checkpoints = try LogStore.status(at: folder).checkpoints
            .reduce(UInt64(0)) { $0 + UInt64($1.bytes) }
        let (space, past) = try StoreSession.log(folder, .reading) { store in
            (
                try store.space { entity, blocks in
                    console.progress("reading \(entity): \(PlainText.count(blocks, "block"))")
                }, try store.pastStateBounds()?.bytes ?? 0
            )
        }
        if output.json {
            console.print(Self.json(space, checkpoints: checkpoints, past: past).line)
            return
        }
        let bytes = space.segments.reduce(0) { $0 + $1.bytes }
        let live = space.segments.reduce(0) { $0 + $1.liveBytes }
        console.print("\(PlainText.bytes(live)) of \(PlainText.bytes(bytes)) are live")
        if checkpoints > 0 { console.print("\(PlainText.bytes(checkpoints)) in checkpoints") }
        if past > 0 { console.print("\(PlainText.bytes(past)) kept for past states") }
        var tables = [Self.entities(space), Self.segments(space)]
        if !space.indexes.isEmpty { tables.insert(Self.indexes(space), at: 1) }
        for table in tables {
            console.print("")
            for line in table.lines { console.print(line) }
        }
    }

    // MARK: Text

    private static func entities(_ space: StoreSpace) -> TextTable {
        var table = TextTable(
            ["entity", "property", "objects", "bytes", "live", "dead", "large", "encoding"],
            alignments: [.left, .left, .right, .right, .right, .right, .right, .left])
        for entity in space.entities where entity.blocks > 0 {
            table.add(
                [
                    entity.isHidden ? "\(entity.name) (pairs)" : entity.name, "",
                    PlainText.number(entity.objects),
                ] + cells(entity.bytes, entity.liveBytes, entity.largeValueBytes) + [""])
            for property in entity.properties {
                table.add(
                    ["", property.name, ""]
                        + cells(property.bytes, property.liveBytes, property.largeValueBytes)
                        + [encoding(of: property)])
            }
            table.add(
                ["", "(heads, numbers)", ""]
                    + cells(entity.otherBytes, entity.otherLiveBytes, 0) + [""])
        }
        return table
    }

    /// Returns the encoding of most of a property's bytes, and whether there are others.
    private static func encoding(of property: StoreSpace.Property) -> String {
        guard let first = property.encodings.first else { return "" }
        let others = property.encodings.count - 1
        return others == 0 ? first.name : "\(first.name) and \(PlainText.count(others, "other"))"
    }

    private static func cells(_ bytes: UInt64, _ live: UInt64, _ large: UInt64) -> [String] {
        [
            PlainText.number(bytes), PlainText.number(live), PlainText.number(bytes - live),
            large == 0 ? "" : PlainText.number(large),
        ]
    }

    private static func indexes(_ space: StoreSpace) -> TextTable {
        var table = TextTable(
            ["index", "entity", "properties", "entries", "memory"],
            alignments: [.left, .left, .left, .right, .right])
        for index in space.indexes {
            table.add([
                index.name ?? index.kind.rawValue, index.entity,
                index.properties.joined(separator: ", "), PlainText.number(index.entries),
                PlainText.number(index.memoryBytes),
            ])
        }
        return table
    }

    private static func segments(_ space: StoreSpace) -> TextTable {
        var table = TextTable(
            ["segment", "kind", "bytes", "live", "dead"],
            alignments: [.right, .left, .right, .right, .right])
        for segment in space.segments {
            table.add([
                "\(segment.number)", segment.isSide ? "side" : "log",
                PlainText.number(segment.bytes), PlainText.number(segment.liveBytes),
                PlainText.number(segment.bytes - segment.liveBytes),
            ])
        }
        return table
    }

    // MARK: JSON

    private static func json(_ space: StoreSpace, checkpoints: UInt64, past: UInt64)
        -> JSONValue
    {
        .object([
            "bytes": .count(space.segments.reduce(0) { $0 + $1.bytes }),
            "liveBytes": .count(space.segments.reduce(0) { $0 + $1.liveBytes }),
            "checkpointBytes": .count(checkpoints), "pastStateBytes": .count(past),
            "entities": .array(space.entities.map(json)),
            "indexes": .array(
                space.indexes.map {
                    .object([
                        "kind": .string($0.kind.rawValue), "name": .text($0.name),
                        "entity": .string($0.entity),
                        "properties": .array($0.properties.map { .string($0) }),
                        "entries": .count($0.entries), "memoryBytes": .count($0.memoryBytes),
                    ])
                }),
            "segments": .array(
                space.segments.map {
                    .object([
                        "number": .count($0.number), "side": .boolean($0.isSide),
                        "bytes": .count($0.bytes), "liveBytes": .count($0.liveBytes),
                    ])
                }),
        ])
    }

    private static func json(_ entity: StoreSpace.Entity) -> JSONValue {
        .object([
            "name": .string(entity.name), "hidden": .boolean(entity.isHidden),
            "objects": .count(entity.objects), "blocks": .count(entity.blocks),
            "bytes": .count(entity.bytes), "liveBytes": .count(entity.liveBytes),
            "largeValueBytes": .count(entity.largeValueBytes),
            "otherBytes": .count(entity.otherBytes),
            "properties": .array(
                entity.properties.map {
                    .object([
                        "name": .string($0.name), "bytes": .count($0.bytes),
                        "liveBytes": .count($0.liveBytes),
                        "largeValueBytes": .count($0.largeValueBytes),
                        "encodings": .array(
                            $0.encodings.map {
                                .object(["name": .string($0.name), "bytes": .count($0.bytes)])
                            }),
                    ])
                }),
        ])
    }
}

extension StoreSpace.Entity {
    /// The bytes that belong to no property.
    fileprivate var otherBytes: UInt64 {
        bytes - min(bytes, properties.reduce(0) { $0 + $1.bytes })
    }

    /// The same for live rows.
    fileprivate var otherLiveBytes: UInt64 {
        // Every part is rounded separately.
        let parts = properties.reduce(0) { $0 + $1.liveBytes }
        return min(otherBytes, liveBytes - min(liveBytes, parts))
    }
}
