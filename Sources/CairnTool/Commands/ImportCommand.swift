// cairn import: a list becomes objects, and nothing doubles.

import ArgumentParser
import CairnInspection
import CairnModel
import CairnStore

/// Inserts what is new, updates what is there, and says what it did.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Insert what is new in a list, update what is there, never double.",
        discussion: """
            The list is a JSON array, a JSON object that holds one array, JSON lines, CSV with a \
            header, or GeoJSON features. The form is found by itself. All of it is stored, or \
            nothing.

            A new store needs a model: --model takes one of Xcode's, --unique infers one from all \
            records of the list. Later imports use the store's model. An inferred attribute is a \
            boolean, integer, double or decimal only if every value fits exactly, else a string; \
            objects and arrays are kept as JSON text.

            Of a GeoJSON feature the properties are fields by their names (properties.code is \
            code), and so are id, longitude, latitude and altitude of a point, and geometry of \
            anything else. Where a property has such a name, the feature's own is called \
            featureID, featureLongitude and so on.

            Values must fit exactly: 10.0 fits an integer, 10.5 does not; dates are written as \
            2024-05-01 or 2024-05-01T12:00:00Z; texts with leading zeros stay texts; an empty CSV \
            cell is nil.
            """)

    @OptionGroup var place: StoreArgument

    @Argument(help: "The list, or - for standard input.", completion: .file())
    var file: String

    @Option(help: "The entity whose objects the records are.")
    var entity: String

    @Option(
        help: "The model of a new store: a .xcdatamodeld or .xcdatamodel folder, or its XML.",
        completion: .file())
    var model: String?

    @Option(
        help: ArgumentHelp(
            "The attributes that tell objects apart, for a new store without --model. Repeat it for more than one constraint.",
            valueName: "key,key"))
    var unique: [String] = []

    @Option(
        help: ArgumentHelp(
            "What happens to a record whose object is stored already: \(ImportPolicy.list).",
            valueName: "policy"))
    var policy: ImportPolicy = .mergeByPropertyObjectTrump

    @Option(
        help: ArgumentHelp(
            "Call a field differently, or drop it with nothing behind the =.",
            valueName: "from=to,…"))
    var map: [String] = []

    @Flag(
        help: "Change only what a record names; without it the rest becomes what a new object has.")
    var setOnly = false

    @Flag(help: "Delete the objects that the list no longer has, in the same commit.")
    var prune = false

    @Option(
        help: ArgumentHelp(
            "Mark the objects that the list no longer has instead: give them a value, nil with nothing behind the =. Repeat it for more.",
            valueName: "name=value"))
    var mark: [String] = []

    @Option(
        help: ArgumentHelp(
            "Of what objects the list is all there is: only those are pruned or marked.",
            valueName: "condition"))
    var scope: String?

    @Flag(help: "Let --prune or --mark take everything if the list is empty.")
    var allowEmpty = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if model != nil, !unique.isEmpty {
            throw ValidationError("--model has constraints of its own: leave --unique out.")
        }
        if prune, !mark.isEmpty {
            throw ValidationError("An object is deleted or marked: --prune or --mark.")
        }
        if !prune, mark.isEmpty {
            if allowEmpty { throw ValidationError("--allow-empty is for --prune and --mark.") }
            if scope != nil { throw ValidationError("--scope is for --prune and --mark.") }
        }
        for key in constraints where key.isEmpty || key.contains("") {
            throw ValidationError("--unique needs the names of attributes, with commas between.")
        }
    }

    private var constraints: [[String]] {
        unique.map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
    }

    func run() throws {
        let console = Console.current
        let mapping = try FieldMapping(map)
        let job = ImportJob(
            store: place.store, entity: entity, model: model, unique: constraints, mapping: mapping)
        let source = try file == "-" ? ListSource() : ListSource(path: file)
        let outcome: ImportJob.Outcome
        do {
            outcome = try job.run(source, console: console) { request, entity in
                request.mergePolicy = policy.kind
                request.failsOnConflict = policy == .fail
                request.setOnly = setOnly
                request.prunesMissing = prune
                if !mark.isEmpty { request.missing = .mark(try Self.marks(mark, entity)) }
                request.scope = try scope.map { try PredicateNode(format: $0) }
                request.allowsEmpty = allowEmpty
            }
        } catch var error as StoreError where error.cause is EmptyList {
            error.context.detail = "\(error.message), by --allow-empty"
            throw error
        }
        if output.json {
            console.print(outcome.json.line)
        } else {
            for line in outcome.lines { console.print(line) }
        }
        for field in outcome.unusedMappings {
            console.printError("cairn: note: --map names \(field), which the list does not have")
        }
    }
}

extension ImportCommand {
    /// What objects are marked with, by the names of attributes.
    private static func marks(_ texts: [String], _ entity: SchemaEntity) throws -> [String: Value] {
        var marks: [String: Value] = [:]
        for text in texts {
            guard let equals = text.firstIndex(of: "=") else {
                throw Failure("“\(text)” marks nothing: write name=value", code: .usage)
            }
            let name = String(text[..<equals])
            let value = String(text[text.index(after: equals)...])
            guard let column = entity.columnIndex(named: name),
                case .attribute(let type) = entity.columns[column].kind
            else { throw Failure("\(entity.name) has no attribute \(name)") }
            var conversion = CellConversion.value(.null)
            if !value.isEmpty { conversion = ListRecord.value(of: value, as: type) }
            switch conversion {
            case .value(let value): marks[name] = value
            case .failure(let reason):
                throw Failure("“\(value)” is no \(type.rawValue) for \(name): \(reason)")
            }
        }
        return marks
    }
}

/// The policies of an import: those of a store, and one that fails.
enum ImportPolicy: String, ExpressibleByArgument, CaseIterable {
    case error, mergeByPropertyStoreTrump, mergeByPropertyObjectTrump, overwrite, rollback
    case declared, fail

    static let list = """
        mergeByPropertyObjectTrump and overwrite update it (the first is the default); declared \
        merges what the record names as the model's merge rules say; error, \
        mergeByPropertyStoreTrump and rollback skip the record; fail refuses the whole list
        """

    var kind: MergePolicyKind {
        switch self {
        case .error, .fail: .error
        case .mergeByPropertyStoreTrump: .mergeByPropertyStoreTrump
        case .mergeByPropertyObjectTrump: .mergeByPropertyObjectTrump
        case .overwrite: .overwrite
        case .rollback: .rollback
        case .declared: .declared
        }
    }
}
