// cairn find: finds an id, a key or a string anywhere in a store.

import ArgumentParser
import CairnInspection
import CairnModel
import CairnStore

/// Finds an id, a key or a string.
struct FindCommand: OneStoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "find", abstract: "Find an id, a key or a text in a store.",
        discussion: """
            Write an id as query prints it (p17) or as a URI. A key is the value of an attribute \
            that is unique by itself. A text is searched in all string attributes, ignoring case \
            and accents. All entities are searched; ids come first, then keys, then texts. The id \
            of an object that was merged into another one finds that one. The exit code is 1 if \
            nothing is found.

            Example:
              cairn find shop.cairn anchor --entity Product
            """)

    @OptionGroup var place: StoreArgument

    @Argument(help: "An id, the value of a key, or part of a text.")
    var text: String

    @Option(help: "Only search objects of this entity and its subentities.")
    var entity: String?

    @Option(parsing: .unconditional, help: "Print at most this many places.")
    var limit = 20

    @OptionGroup var moment: MomentOptions

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if text.isEmpty {
            throw ValidationError(
                "Enter what to look for: an id, the value of a key or part of a text.")
        }
        if limit < 1 { throw ValidationError("--limit must be 1 or more.") }
    }

    func run() throws {
        let console = Console.current
        try StoreSession.reading(place.store) { session in
            let entity = try entity.map(session.entity)
            // One more than the limit, to detect whether there are more.
            var search = StoreSearch(
                session, try session.snapshot(moment), entity, limit == .max ? limit : limit + 1)
            let found = try search.find(text) { property in
                console.progress("looking through \(property)")
            }
            if found.isEmpty {
                let place = entity.map { "\($0.name) of \(session.path)" } ?? session.path
                throw Failure("nothing in \(place) has the id or key \(text), or contains it")
                    .ofAbsence
            }
            var table = TextTable(
                ["entity", "objectID", "by", "property", "value"],
                widest: console.isTerminal ? 40 : 60)
            for place in found.prefix(limit) {
                let id = "p\(place.id.reference)"
                if let led = place.led {
                    let words = "p\(led.reference) was merged into \(id)."
                    // For programs, standard output contains only the places.
                    if output.json { console.printError(words) } else { console.print(words) }
                }
                if output.json {
                    console.print(
                        JSONValue.object([
                            "entity": .string(place.entity), "objectID": .string(id),
                            "by": .string(place.kind.rawValue), "property": .text(place.property),
                            "value": JSONValue(place.value),
                        ]).line)
                } else {
                    table.add([
                        place.entity, id, place.kind.rawValue, place.property ?? "",
                        PlainText.value(place.value),
                    ])
                }
            }
            if !output.json {
                for line in table.lines { console.print(line) }
            }
            if found.count > limit {
                console.printError(
                    "cairn: note: there are more than \(limit); raise --limit to see them")
            }
        }
    }
}
