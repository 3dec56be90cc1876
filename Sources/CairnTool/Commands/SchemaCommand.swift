// cairn schema: prints a store's model.

import ArgumentParser
import CairnModel

/// Prints the model of a store.
struct SchemaCommand: OneStoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Print a store's model.",
        discussion: """
            Prints entities with their attributes (type, default, options), relationships \
            (destination, inverse, delete rule), uniqueness constraints and fetch indexes. Default \
            settings are omitted: attributes are optional, relationships nullify. Indexes that the \
            store does not keep, such as those on expressions, are listed at the end. The JSON is \
            the same as that of cairn model. With --hashes, the version hash of each entity is \
            printed, and one of the whole model.

            Example:
              cairn schema shop.cairn --entity Product
            """)

    @OptionGroup var place: StoreArgument
    @Option(
        help: ArgumentHelp("Only print this entity and its ancestors.", valueName: "entity"))
    var entity: String?
    @Flag(help: "Print version hashes.")
    var hashes = false
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if hashes, entity != nil {
            throw ValidationError("--hashes prints all entities: omit --entity")
        }
    }

    func run() throws {
        try StoreSession.reading(place.store) { session in
            var model = session.schema.model
            if hashes { return VersionPrinter.print(model, json: output.json) }
            var names: Set<String>?
            if let entity {
                var chosen: Set<String> = []
                var next: SchemaEntity? = try session.entity(entity)
                while let described = next {
                    chosen.insert(described.name)
                    next = described.parent.map { session.schema.entities[$0] }
                }
                model.entities.removeAll { !chosen.contains($0.name) }
                names = chosen
                model.configurations = [:]
                model.fetchRequestTemplates = []
            }
            try ModelPrinter.print(model, json: output.json)
            if output.json { return }
            for index in session.leftOutIndexes where names?.contains(index.entity) ?? true {
                Console.current.print(
                    "\nindex \(index.name) of \(index.entity) is not kept: \(index.reason)")
            }
        }
    }
}
