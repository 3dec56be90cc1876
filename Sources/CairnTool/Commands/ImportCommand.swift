// cairn import: imports a list as objects, without duplicates.

import ArgumentParser
import CairnInspection
import CairnModel
import CairnStore

/// Inserts new objects, updates existing ones, and reports the counts.
struct ImportCommand: OneStoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Upsert a list: insert new objects, update existing ones, create no duplicates.",
        discussion: """
            The list is a JSON array, a JSON object that contains one array, JSON lines, CSV with \
            a header, or GeoJSON features; the format is detected. The import is all or nothing.

            A new store needs a model: --model uses an existing one, --unique infers one from all \
            records of the list. Later imports use the store's model. An inferred attribute is a \
            boolean, integer, double, decimal or date only if every value fits exactly, otherwise \
            a string: true, false, yes and no are booleans, ISO 8601 dates and times are dates, \
            numbers that a double would round are decimals. A column that only contains yes, or \
            only no, stays a string. Objects and arrays are stored as JSON text, with the keys of \
            each object in order. --type overrides inference, and --sample previews it.

            With --add-fields, fields of the list that the store lacks become attributes. With \
            --widen, attributes become wider when values do not fit: larger integers, double, \
            decimal, finally string; the narrowest type that preserves all values of the store and \
            the list. Objects keep their ids. The change is a lightweight migration where \
            possible, otherwise objects are migrated one by one; either way it is one commit \
            before the list's, and the report says what changed. Apps that open the store with \
            their own model have to be updated, too.

            A double in the store takes the nearest number, as usual, but key values are never \
            rounded: such a list is rejected. A CSV key with numbers such as 1.10 is inferred as a \
            string, since 1.1 may be a different key; likewise any key whose dates or booleans are \
            not all written in the same form.

            For a GeoJSON feature, its properties are fields under their names (properties.code is \
            code), and so are id, longitude, latitude and altitude of a point, and geometry of \
            anything else. If a property already has that name, the feature's own is called \
            featureID, featureLongitude and so on.

            Records with the same key count together: the last one wins, or --policy decides. A \
            record whose key is nil or partly nil is rejected, or handled as --missing-key says.

            A field named like a relationship contains the key of its target: a value, an object \
            with the key's attributes, or for a to-many relationship an array of these; in CSV, \
            the keys separated by ; (see --separator). A target may come later in the list. For a \
            key with several attributes, author.name is one attribute of the target. An id (p17 or \
            a URI) also identifies a target, unless it could be a key. Properties that a record \
            does not mention are kept.

            Values must fit exactly: 10.0 fits an integer, 10.5 does not; dates are written as \
            2024-05-01 or 2024-05-01T12:00:00Z; strings with leading zeros stay strings; an empty \
            CSV cell is nil, and so is any text given by --null.

            Examples:
              cairn import airports.cairn --entity Airport --unique icao airports.csv
              cairn import airports.cairn --entity Airport --prune airports-2024.csv
            """)

    @OptionGroup var place: StoreArgument

    @Argument(help: "The list, or - for standard input.", completion: .file())
    var file: String

    @Option(help: "The entity of the records.")
    var entity: String

    @Option(
        help:
            "The model for a new store: a .xcdatamodeld or .xcdatamodel folder, its XML, a .json file with a model, or another store.",
        completion: .file())
    var model: String?

    @Option(
        help: ArgumentHelp(
            "A uniqueness constraint, for a new store without --model. Repeat for several constraints.",
            valueName: "key,key"))
    var unique: [String] = []

    @Option(
        help: ArgumentHelp(
            "What happens to a record whose object already exists: \(ImportPolicy.list).",
            valueName: "policy"))
    var policy: ImportPolicy = .mergeByPropertyObjectTrump

    @Option(
        help: ArgumentHelp(
            "Rename a field, or drop it if nothing follows the =.",
            valueName: "from=to,…"))
    var map: [String] = []

    @Option(
        help: ArgumentHelp(
            "The list's character encoding: utf-8 (the default), utf-16 (detected by a byte order mark), utf-16le, utf-16be, latin1 or windows-1252.",
            valueName: "encoding"), transform: Self.encoding)
    var encoding: ListEncoding?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The CSV delimiter: a character, or tab, semicolon, pipe, comma or space; implies CSV. The default is a comma, or a tab in a .tsv file.",
            valueName: "character"), transform: Self.delimiter)
    var delimiter: UInt8?

    @Option(
        name: .customLong("null"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "A text that means nil, in CSV and JSON. Can be repeated.", valueName: "text"))
    var nulls: [String] = []

    @Option(
        name: .customLong("type"),
        help: ArgumentHelp(
            "Attribute types, overriding inference: boolean, integer16 (or int16), integer32, integer64, decimal, double, float, string, date, binary, uuid, uri. An attribute that already exists must have that type, or be widened to it by --widen.",
            valueName: "attribute=type,…"))
    var types: [String] = []

    @Flag(
        help:
            "Add attributes for fields that the entity lacks, in a commit before the list's."
    )
    var addFields = false

    @Flag(
        help:
            "Widen attributes if the list's values do not fit, in a commit before the list's."
    )
    var widen = false

    @Option(
        help: ArgumentHelp(
            "Write nothing; show the types inferred from this many records.", valueName: "count"))
    var sample: Int?

    @Flag(help: "Write nothing: print what would be inserted, updated, deleted.")
    var dryRun = false

    @Flag(
        help:
            "Only change properties that a record mentions; otherwise the rest is reset to a new object's values."
    )
    var setOnly = false

    @Option(help: "The separator between several keys in one CSV cell.")
    var separator = ";"

    @Flag(
        help:
            "Create missing relationship targets, from their keys and any other values in the list's objects."
    )
    var createTargets = false

    @Flag(help: "Delete objects that are not in the list, in the same commit.")
    var prune = false

    @Option(
        help: ArgumentHelp(
            "Mark objects that are not in the list instead: set an attribute, to nil if nothing follows the =. Can be repeated.",
            valueName: "name=value"))
    var mark: [String] = []

    @Option(
        help: ArgumentHelp(
            "Only prune or mark objects that match this condition: those that the list is complete for.",
            valueName: "condition"))
    var scope: String?

    @Flag(help: "Allow --prune or --mark to affect all objects if the list is empty.")
    var allowEmpty = false

    @Option(
        help: ArgumentHelp(
            "What happens to a record without a key, which matches no stored object: insert (each import adds it again), skip, or error.",
            valueName: "insert|skip|error"))
    var missingKey: MissingKeyOption = .error

    @OptionGroup var turn: WaitOptions

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if model != nil, !unique.isEmpty {
            throw ValidationError("--model defines the constraints: omit --unique.")
        }
        if model != nil, !types.isEmpty {
            throw ValidationError("--model defines the types: omit --type.")
        }
        if model != nil, addFields || widen {
            throw ValidationError(
                "--model defines the new store's model: omit --add-fields and --widen.")
        }
        if model != nil, sample != nil {
            throw ValidationError("--sample shows what would be inferred: omit --model.")
        }
        if let sample, sample < 1 {
            throw ValidationError("--sample must be 1 or more records.")
        }
        if dryRun, sample != nil || addFields || widen {
            throw ValidationError(
                "--dry-run tells what the list does to the store as it is: leave --sample, --add-fields and --widen out."
            )
        }
        if separator.isEmpty {
            throw ValidationError("--separator needs at least one character.")
        }
        if prune, !mark.isEmpty {
            throw ValidationError(
                "--prune and --mark cannot be combined: an object is either deleted or marked.")
        }
        if !prune, mark.isEmpty {
            if allowEmpty { throw ValidationError("--allow-empty requires --prune or --mark.") }
            if scope != nil { throw ValidationError("--scope requires --prune or --mark.") }
        }
        for key in constraints where key.isEmpty || key.contains("") {
            throw ValidationError(
                "--unique takes attribute names, separated by commas.")
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
            createsTargets: createTargets, access: turn.access, isTrial: dryRun)
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
            // The error's row is a record of the list.
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
            console.printError("cairn: note: --map mentions \(field), which is not in the list")
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
                "--delimiter: “\(name)” is not a valid delimiter. Use one ASCII character other than a quote, or tab, semicolon, pipe, comma or space"
            )
        }
        return delimiter
    }

    /// Returns the error, with the option that creates the missing objects.
    private static func advising(_ error: StoreError) -> StoreError {
        let first = error.details.first ?? error
        guard first.code == .objectNotFound, first.context.objectID == nil else { return error }
        var error = error
        error.context.detail =
            "\(error.context.detail ?? error.message); --create-targets creates missing targets"
        return error
    }

    /// Returns the values to mark objects with, by attribute name.
    private static func marks(_ texts: [String], _ entity: SchemaEntity) throws -> [String: Value] {
        var marks: [String: Value] = [:]
        for text in texts {
            guard let equals = text.firstIndex(of: "=") else {
                throw Failure(
                    "--mark: “\(text)” has no value: write attribute=value", code: .usage)
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
        mergeByPropertyObjectTrump (the default) and overwrite update it; declared merges the \
        record's values by the model's merge rules; error, mergeByPropertyStoreTrump and \
        rollback skip the record; fail rejects the whole list
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

/// How to handle records without a key.
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
    /// Returns the error in terms of records, with the options that accept them.
    fileprivate func advising(_ error: StoreError) -> StoreError {
        var error = error
        error.context.detail =
            (count == 1
                ? "the record has no key, so each import would add it again: give it a key,"
                : "\(count) records have no key, so each import would add them again: give them keys,")
            + " skip such records with --missing-key skip, or insert them with --missing-key insert"
        for index in error.details.indices {
            error.details[index].context.detail = "the record has no key"
        }
        return error
    }
}
