// A command-line app: notes with tags.
//
//   swift run Notes add "Buy anchors" --tag harbour --tag shopping
//   swift run Notes list --tag harbour
//   swift run Notes remove 1

import ArgumentParser
import Cairn

@main
struct Notes: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notes", abstract: "Keeps notes with tags.",
        subcommands: [Add.self, List.self, Remove.self])
}

/// Where the notes are, for every command.
struct Place: ParsableArguments {
    @Option(help: "The folder of the notes.") var store = "notes.cairn"

    /// Opens the store, or makes it. A new note may name a tag that exists: then it gets that one.
    func open() throws -> PersistentContainer {
        try PersistentContainer(
            at: store, for: Note.self, Tag.self, mergePolicy: .mergeByPropertyObjectTrump)
    }
}

struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Adds a note.")
    @Argument(help: "What to note.") var text: String
    @Option(name: .customLong("tag"), help: "A tag of it; may be repeated.") var tags: [String] = []
    @OptionGroup var place: Place

    func run() async throws {
        let number = try await place.open().performBackgroundTask { context in
            var last = FetchRequest<Note>(sortBy: [SortKey(\Note.number, ascending: false)])
            last.fetchLimit = 1
            let note = context.insert(Note.self)
            note.number = try context.fetch(last).first.map { $0.number + 1 } ?? 1
            note.text = text
            for name in tags {
                let tag = context.insert(Tag.self)
                tag.name = name
                note.tags.insert(tag)
            }
            try context.save()
            return note.number
        }
        print("note \(number)")
    }
}

struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Lists notes.")
    @Option(help: "Only those with this tag.") var tag: String?
    @Option(help: "Only those whose text has these words.") var containing: String?
    @OptionGroup var place: Place

    func run() async throws {
        let lines = try await place.open().performBackgroundTask { context in
            var conditions: [PredicateNode] = []
            if let tag {
                conditions.append(try PredicateNode(format: "ANY tags.name == %@", [.string(tag)]))
            }
            if let containing {
                conditions.append(
                    try PredicateNode(format: "text CONTAINS[cd] %@", [.string(containing)]))
            }
            var request = FetchRequest<Note>(sortBy: [SortKey(\Note.number)])
            request.predicate = conditions.isEmpty ? nil : .and(conditions)
            request.relationshipKeyPathsForPrefetching = ["tags"]
            return try context.fetch(request).map { note in
                let tags = note.tags.map { "#" + $0.name }.sorted()
                return ([String(note.number), note.text] + tags).joined(separator: " ")
            }
        }
        for line in lines { print(line) }
    }
}

struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Removes a note.")
    @Argument(help: "Its number.") var number: Int
    @OptionGroup var place: Place

    func run() async throws {
        try await place.open().performBackgroundTask { context in
            let number = number
            let found = try context.fetch(FetchRequest<Note>(#Predicate { $0.number == number }))
            guard let note = found.first else {
                throw ValidationError("there is no note \(number)")
            }
            context.delete(note)
            try context.save()
        }
    }
}
