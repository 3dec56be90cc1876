// cairn hash: whether two stores have the same content, in one line.

import ArgumentParser
import CairnInspection
import CairnModel
import CairnStore

/// Prints a hash of the content of a store.
struct HashCommand: OneStoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "hash", abstract: "Print a hash of a store's content.",
        discussion: """
            The hash is SHA-256 over the lines of cairn export without the first one, which is not \
            about an object; so it is what this prints: cairn export STORE | tail -n +2 | sha256sum. \
            If a model has relationships that are ordered, or to many at both ends, the lists of their \
            members are hashed instead of how the store keeps them.

            It stays the same when the store is compacted, opened again, backed up or copied, into \
            PostgreSQL too, and when an index is added. Object numbers and versions count, so two stores that were filled in \
            another order have other hashes: cairn diff compares those.
            """)

    @OptionGroup var place: StoreArgument

    @Option(help: "Only the objects of this entity and those that inherit from it.")
    var entity: String?

    @OptionGroup var output: OutputOptions

    func run() throws {
        let console = Console.current
        try StoreSession.reading(place.store) { session in
            let snapshot = try session.store.snapshot()
            var lines = ObjectLines(try entity.map(session.entity), session.schema)
            let add = { (piece: UnsafeRawBufferPointer) in
                lines.add(piece)
                console.progress("hashing: \(PlainText.number(lines.count)) objects")
            }
            if ContentLines.areNeeded(for: session.schema) {
                try ContentLines(session, snapshot).write(add)
            } else {
                try session.export(snapshot, add)
            }
            let hash = lines.hash.hexadecimal()
            guard output.json else { return console.print(hash) }
            console.print(
                JSONValue.object([
                    "sha256": .string(hash), "entity": .text(entity),
                    "commit": .count(snapshot.commit), "lines": .count(lines.count),
                ]).line)
        }
    }
}

/// The lines of an export that are about objects, or about those of some entities. They come in pieces of whole lines.
private struct ObjectLines {
    private(set) var hash = SHA256()
    private(set) var count = 0
    /// What the lines that count begin with; nil if all do.
    private let beginnings: [[UInt8]]?
    private var hasHeader = false

    init(_ entity: SchemaEntity?, _ schema: Schema) {
        beginnings = entity.map { entity in
            entity.family.map { member in
                let name = JSONValue.string(schema.entities[member].name).line
                return Array("{\"entity\":\(name),".utf8)
            }
        }
    }

    mutating func add(_ piece: UnsafeRawBufferPointer) {
        var rest = piece
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            let line = UnsafeRawBufferPointer(rebasing: rest[...end])
            rest = UnsafeRawBufferPointer(rebasing: rest[(end + 1)...])
            if hasHeader, beginnings?.contains(where: line.starts) ?? true {
                hash.add(line)
                count += 1
            }
            hasHeader = true
        }
    }
}
