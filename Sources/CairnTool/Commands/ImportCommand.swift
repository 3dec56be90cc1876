// cairn import: a list becomes objects, and nothing doubles.

import ArgumentParser
import CairnInspection
import CairnModel
import CairnStore

/// Inserts what is new, updates what is there, and says what it did.
struct ImportCommand: OneStoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Upsert a list: insert what is new, update what is stored, duplicate nothing.",
        discussion: """
            The list is a JSON array, a JSON object that holds one array, JSON lines, CSV with a \
            header, or GeoJSON features; the form is detected. All of it is stored, or nothing.

            A new store needs a model: --model takes one of Xcode's, --unique infers one from all \
            records of the list. Later imports use the store's model. An inferred attribute is a \
            boolean, integer, double, decimal or date only if every value fits exactly, else a \
            string: true, false, yes and no are boolean, days and moments in ISO 8601 are dates, \
            numbers that a double would round are decimals. A column of yes alone, or of no alone, \
            stays text. Objects and arrays are kept as JSON text, with the keys of each object in \
            their order. --type overrides that, and --sample shows it beforehand.

            With --add-fields a later list may have fields that the store lacks: they become \
            attributes. With --widen an attribute that values do not fit becomes wider: integers of \
            more bits, double, decimal, at last string; the narrowest type that has all values of \
            the store and the list, each as it is. Objects keep their ids. What is inferable is a \
            lightweight migration, else objects are migrated one by one; either is one commit \
            before the list's, and the report says what has changed. An app that opens the store \
            with a model of its own must know the change.

            A double of the store takes the nearest to a number of a later list, as everywhere; \
            but a value of a key is never rounded: such a list is refused. A key of CSV with numbers \
            such as 1.10 is inferred as a string: 1.1 may be another one. So is any key whose dates or \
            truth values are not all written in one form.

            Of a GeoJSON feature the properties are fields by their names (properties.code is \
            code), and so are id, longitude, latitude and altitude of a point, and geometry of \
            anything else. Where a property has such a name, the feature's own is called \
            featureID, featureLongitude and so on.

            Records of one key count together: the last one, or what --policy makes of them. A record \
            whose key is nil, or has a part that is nil, is refused, or what --missing-key says.

            A field that is called as a relationship has the key of its target: a value, an object with \
            the attributes of a key, or, of a relationship to many, an array of these; in CSV the keys \
            with a ; between them (see --separator). A target may come later in the list. author.name \
            is the attribute of a target, for a key of several. An id, p17 or a URI, names a target as \
            well, where it cannot be a key. What a record does not name stays.

            Values must fit exactly: 10.0 fits an integer, 10.5 does not; dates are written as \
            2024-05-01 or 2024-05-01T12:00:00Z; texts with leading zeros stay texts; an empty CSV \
            cell is nil, and whatever --null says.
            """)

    @OptionGroup var place: StoreArgument

    @Argument(help: "The list, or - for standard input.", completion: .file())
    var file: String

    @Option(help: "The entity whose objects the records are.")
    var entity: String

    @Option(
        help:
            "The model of a new store: a .xcdatamodeld or .xcdatamodel folder, its XML, a model's JSON in a file .json, or another store.",
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

    @Option(
        help: ArgumentHelp(
            "How the list's characters are written: utf-8 (the default), utf-16 (detected if the list begins with a byte order mark), utf-16le, utf-16be, latin1 or windows-1252.",
            valueName: "encoding"), transform: Self.encoding)
    var encoding: ListEncoding?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "What stands between the cells of CSV, which the list is then: a character, or tab, semicolon, pipe, comma or space. Without it a comma, in a .tsv file a tab.",
            valueName: "character"), transform: Self.delimiter)
    var delimiter: UInt8?

    @Option(
        name: .customLong("null"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "A text that means nil, in CSV and JSON. Repeat it for more.", valueName: "text"))
    var nulls: [String] = []

    @Option(
        name: .customLong("type"),
        help: ArgumentHelp(
            "The types of attributes, whatever the list has in them: boolean, integer16 (or int16), integer32, integer64, decimal, double, float, string, date, binary, uuid, uri. What a store has already must be of that type, or become it by --widen.",
            valueName: "attribute=type,…"))
    var types: [String] = []

    @Flag(
        help:
            "Make attributes of the fields that the store's entity lacks, in a commit before the list's."
    )
    var addFields = false

    @Flag(
        help:
            "Give attributes a wider type where the list's values do not fit, in a commit before the list's."
    )
    var widen = false

    @Option(
        help: ArgumentHelp(
            "Write nothing: show what would be inferred from so many records.", valueName: "count"))
    var sample: Int?

    @Flag(
        help: "Change only what a record names; without it the rest becomes what a new object has.")
    var setOnly = false

    @Option(help: "What stands between the keys of several targets in one cell of CSV.")
    var separator = ";"

    @Flag(
        help:
            "Make the targets of relationships that are not there, of their keys and what else an object of the list says."
    )
    var createTargets = false

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

    @Option(
        help: ArgumentHelp(
            "What happens to a record that has no value for its key, which finds no stored object: insert (each import adds it again), skip, or error.",
            valueName: "insert|skip|error"))
    var missingKey: MissingKeyOption = .error

    @OptionGroup var turn: WaitOptions

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if model != nil, !unique.isEmpty {
            throw ValidationError("--model has constraints of its own: leave --unique out.")
        }
        if model != nil, !types.isEmpty {
            throw ValidationError("--model has types of its own: leave --type out.")
        }
        if model != nil, addFields || widen {
            throw ValidationError(
                "--model fixes what the new store has: leave --add-fields and --widen out.")
        }
        if model != nil, sample != nil {
            throw ValidationError("--sample is for what is inferred: leave --model out.")
        }
        if let sample, sample < 1 {
            throw ValidationError("--sample must be a number of records, 1 or more.")
        }
        if separator.isEmpty {
            throw ValidationError("--separator needs at least one character.")
        }
        if prune, !mark.isEmpty {
            throw ValidationError(
                "--prune and --mark cannot be combined: an object is either deleted or marked.")
        }
        if !prune, mark.isEmpty {
            if allowEmpty { throw ValidationError("--allow-empty needs --prune or --mark.") }
            if scope != nil { throw ValidationError("--scope needs --prune or --mark.") }
        }
        for key in constraints where key.isEmpty || key.contains("") {
            throw ValidationError(
                "--unique needs the names of attributes, with commas between them.")
        }
    }

    var places: [String] { [place.store] + (model.map { [$0] } ?? []) }

    private var constraints: [[String]] {
        unique.map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
    }

    func run() throws {
        let console = Console.current
        let mapping = try FieldMapping(map)
        let types = try FieldTypes(types)
        let job = ImportJob(
            store: place.store, entity: entity, model: model, unique: constraints, mapping: mapping,
            types: types, addsFields: addFields, widens: widen, separator: separator,
            createsTargets: createTargets, access: turn.access)
        var options = ListOptions()
        options.encoding = encoding
        options.delimiter = delimiter
        options.nulls = nulls.map { Array($0.utf8) }
        let source =
            try file == "-"
            ? ListSource(options: options) : ListSource(path: file, options: options)
        if let sample {
            return try ImportSample(
                store: place.store, entity: entity, unique: constraints, mapping: mapping,
                types: types, limit: sample
            ).print(source, to: console, json: output.json)
        }
        let outcome: ImportJob.Outcome
        do {
            outcome = try job.run(source, console: console) { request, entity, session in
                request.mergePolicy = policy.kind
                request.failsOnConflict = policy == .fail
                request.setOnly = setOnly
                request.missingKey = missingKey.rule
                request.prunesMissing = prune
                if !mark.isEmpty { request.missing = .mark(try Self.marks(mark, entity)) }
                request.scope = try scope.map { try session.condition($0, of: entity) }
                request.allowsEmpty = allowEmpty
            }
        } catch var error as StoreError where error.cause is EmptyList {
            error.context.detail = "\(error.message), with --allow-empty"
            throw error
        } catch var error as StoreError {
            // Its record is one of the list.
            if error.context.row != nil, error.context.path == nil {
                error.context.path = source.name
            }
            if let missing = error.cause as? MissingKeys { throw missing.advising(error) }
            throw createTargets ? error : Self.advising(error)
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
    private static func encoding(_ name: String) throws -> ListEncoding {
        guard let encoding = ListEncoding(name: name) else {
            let all = ListEncoding.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--encoding: “\(name)” is unknown. The encodings are: \(all)")
        }
        return encoding
    }

    private static func delimiter(_ name: String) throws -> UInt8 {
        guard let delimiter = ListOptions.delimiter(named: name) else {
            throw ValidationError(
                "--delimiter: “\(name)” cannot separate cells. Give one ASCII character that is not a quote, or tab, semicolon, pipe, comma or space"
            )
        }
        return delimiter
    }

    /// The error, with the option that makes what is missing.
    private static func advising(_ error: StoreError) -> StoreError {
        let first = error.details.first ?? error
        guard first.code == .objectNotFound, first.context.objectID == nil else { return error }
        var error = error
        error.context.detail =
            "\(error.context.detail ?? error.message): --create-targets inserts the targets that are missing"
        return error
    }

    /// What objects are marked with, by the names of attributes.
    private static func marks(_ texts: [String], _ entity: SchemaEntity) throws -> [String: Value] {
        var marks: [String: Value] = [:]
        for text in texts {
            guard let equals = text.firstIndex(of: "=") else {
                throw Failure(
                    "--mark: “\(text)” gives no value: write attribute=value", code: .usage)
            }
            let name = String(text[..<equals])
            let value = String(text[text.index(after: equals)...])
            guard let column = entity.columnIndex(named: name),
                case .attribute(let type) = entity.columns[column].kind
            else { throw Failure("--mark: \(entity.name) has no attribute \(name)") }
            var conversion = CellConversion.value(.null)
            if !value.isEmpty { conversion = CellConversion(text: value, as: type) }
            switch conversion {
            case .value(let value): marks[name] = value
            case .failure(let reason):
                throw Failure(
                    "--mark: “\(value)” does not fit \(entity.name).\(name) of type \(type.rawValue): \(reason)"
                )
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

/// What becomes of records without a key.
enum MissingKeyOption: String, ExpressibleByArgument, CaseIterable {
    case insert, skip, error

    var rule: MissingKeyRule {
        switch self {
        case .insert: .insert
        case .skip: .skip
        case .error: .fail
        }
    }
}

extension MissingKeys {
    /// The error with words about records, and the options that let them in.
    fileprivate func advising(_ error: StoreError) -> StoreError {
        var error = error
        error.context.detail =
            (count == 1
                ? "the record has no key, and each import would add it again: give it one,"
                : "\(count) records have no key, and each import would add them again: give them one,")
            + " leave such records out with --missing-key skip, or take them with --missing-key insert"
        for index in error.details.indices {
            error.details[index].context.detail = "the record has no key"
        }
        return error
    }
}
