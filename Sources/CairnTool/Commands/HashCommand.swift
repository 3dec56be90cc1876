// cairn hash: prints a hash of a store's content, to compare stores.

import ArgumentParser
import CairnInspection
import CairnModel
import CairnStore

/// Prints a hash of the content of a store.
struct HashCommand: OneStoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "hash", abstract: "Print a hash of a store's content.",
        discussion: """
            The hash is the SHA-256 of the lines of cairn export, except the first, which does not \
            describe an object: it equals the output of cairn export STORE | tail -n +2 | \
            sha256sum. If the model has relationships that are ordered or many-to-many, the lists \
            of their members are hashed instead of their internal representation.

            The hash does not change when the store is compacted, reopened, backed up or copied \
            (also to PostgreSQL), or when an index is added. It includes object numbers and \
            versions, so two stores that were filled in a different order have different hashes; \
            use cairn diff to compare those.

            Example:
              cairn hash shop.cairn
            """)

    @OptionGroup var place: StoreArgument

    @Option(help: "Only hash objects of this entity and its subentities.")
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

/// The lines of an export that describe objects, or objects of some entities. They arrive in pieces of whole
/// lines.
private struct ObjectLines {
    private(set) var hash = SHA256()
    private(set) var count = 0
    /// The prefixes of the lines to include; nil for all.
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
