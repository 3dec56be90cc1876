// cairn schema: the model that a store holds, as a person reads it.

import ArgumentParser
import CairnModel

/// Prints the model of a store.
struct SchemaCommand: OneStoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Print the model that a store holds.",
        discussion: """
            Entities with their attributes (type, default, what they may be), relationships (to \
            which entity, inverse, delete rule), uniqueness constraints and fetch indexes. \
            Defaults are left out: attributes are optional, relationships nullify. Indexes that \
            a store does not keep, as those of expressions, are named at the end. The JSON is that \
            of cairn model. With --hashes it prints what tells versions of the model apart: a hash of \
            each entity, and one of all.
            """)

    @OptionGroup var place: StoreArgument
    @Option(
        help: ArgumentHelp("Only this entity, and those it inherits from.", valueName: "entity"))
    var entity: String?
    @Flag(help: "Print the hashes that tell versions of the model apart.")
    var hashes = false
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if hashes, entity != nil {
            throw ValidationError("--hashes prints all entities: leave --entity out")
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
