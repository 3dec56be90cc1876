// The work of an import.
//
//   1. Detect the list's format.
//   2. Open an existing store, whose model applies. Otherwise create a new one with the given model, or one
//      inferred from the list.
//   3. Import the list in one batch insert, atomically.
//   4. If the list does not fit the store's model, and the model may grow, first migrate the store to a wider
//      one.
//   5. If the import fails, delete a store that was created for it, before another process can write to it. A
//      store that another process created in the meantime is kept. See `StoreKind.making`.

import CairnInspection
import CairnModel
import CairnStore

/// An import into a store.
struct ImportJob {
    let store: String
    let entity: String
    let model: String?
    let unique: [[String]]
    let mapping: FieldMapping
    var types = FieldTypes()
    /// Whether fields that the store's entity lacks become attributes.
    var addsFields = false
    /// Whether attributes of the store are widened if values do not fit.
    var widens = false
    /// The separator of several targets' keys in a CSV cell.
    var separator = ";"
    /// Whether missing targets of relationships are created.
    var createsTargets = false
    /// How the store is opened, and how long to wait for the write lock.
    var access = StoreAccess()
    /// Whether this is a dry run, which writes nothing and reports the result.
    var isTrial = false

    /// The store's title for output.
    var title: String { StoreKinds.current.title(of: store) }

    /// Completes a request with the options of the command line, for an entity of the store.
    typealias Completion = (inout BatchInsertRequest, SchemaEntity, StoreSession) throws -> Void

    /// The result of an import.
    struct Outcome {
        var entity: String
        var source: String
        var form: String
        var records = 0
        var result = BatchInsertResult()
        var seconds = 0.0
        var store: String
        var isNewStore = false
        var hasInferredModel = false
        var changes: [ImportGrowth.Change] = []
        var unusedMappings: [String] = []
        /// How records with the same key were combined.
        var repeats = ""
        var skipsKeyless = false
        var isTrial = false
    }

    /// Imports a list; `choose` completes the request.
    func run(
        _ source: ListSource, console: Console,
        choose: Completion
    ) throws -> Outcome {
        let start = ContinuousClock.now
        let form = try ListForm(of: source)
        let exists = try StoreSession.isStore(store) && (unique.isEmpty || Self.isFinished(store))
        if isTrial, !exists {
            throw Failure(
                "\(title) does not exist yet: --dry-run is for a store that does, --sample shows what would be inferred for a new one",
                code: .usage)
        }
        if exists, addsFields || widens {
            return try growing(source, form, console, since: start, choose)
        }
        let schema = try schema(exists: exists, source, form, console)
        return try StoreSession.making(store, access, schema) { session, isNew in
            var outcome = try insert(source, form, session, console, choose)
            outcome.isNewStore = isNew
            outcome.hasInferredModel = isNew && model == nil
            outcome.seconds = (ContinuousClock.now - start) / .seconds(1)
            return outcome
        }
    }

    /// Imports into a store whose model may grow: if the list fits the current model, nothing else happens.
    private func growing(
        _ source: ListSource, _ form: ListForm, _ console: Console,
        since start: ContinuousClock.Instant,
        _ choose: Completion
    ) throws -> Outcome {
        func attempt() throws -> Outcome {
            try StoreSession.with(store, access) { session in
                try insert(source, form, session, console, choose)
            }
        }
        var outcome: Outcome
        do {
            outcome = try attempt()
        } catch let problem where Self.canBeHelped(problem) {
            let changes = try ImportGrowth(job: self, source: source, form: form).run(console)
            if changes.isEmpty { throw problem }
            do {
                outcome = try attempt()
            } catch {
                for change in changes { console.printError("cairn: note: \(change.line)") }
                console.printError(
                    "cairn: note: \(title) has these model changes, but the list was not imported")
                throw error
            }
            outcome.changes = changes
        }
        outcome.seconds = (ContinuousClock.now - start) / .seconds(1)
        return outcome
    }

    /// Returns whether a wider model may accept what the store has rejected.
    private static func canBeHelped(_ error: any Error) -> Bool {
        if error is ListProblems || error is OtherTypes { return true }
        return (error as? StoreError)?.cause is ListProblems
    }

    // MARK: Models

    /// Returns the schema for a new store, or the required schema of an existing one.
    private func schema(
        exists: Bool, _ source: ListSource, _ form: ListForm, _ console: Console
    ) throws -> Schema? {
        if let model {
            let source = try ModelSource.read(model, version: nil)
            for warning in source.warnings { console.printError("cairn: note: \(warning)") }
            return source.schema
        }
        if exists { return nil }
        guard !unique.isEmpty else {
            throw Failure(
                "\(title) does not exist yet: a new store needs --model, or --unique with the"
                    + " attributes that identify an object", code: .usage)
        }
        let model = try ModelInference.model(
            of: source, form: form, entity: entity, unique: unique, mapping: mapping, types: types
        ) { records, bytes in
            console.progress(Self.progress("examining", records, bytes, of: source))
        }
        return try Schema(model)
    }

    private func checkConstraints(_ entity: SchemaEntity, _ form: ListForm) throws {
        for names in unique {
            let keys = form.isFeatures ? names.map(FieldMapping.withoutPropertiesPrefix) : names
            guard !entity.plainConstraints.contains(where: { $0.names == keys }) else { continue }
            let all = entity.plainConstraints.map { $0.names.joined(separator: ",") }
            throw Failure(
                "\(title) exists, and its \(entity.name) is not unique on \(keys.joined(separator: ","))"
                    + (all.isEmpty ? "" : " but on \(all.joined(separator: " and on "))")
                    + "; omit --unique")
        }
    }

    /// The types on the command line differ from the store's: its model may be able to grow.
    struct OtherTypes: ExplainedError {
        /// The failure if the model cannot grow.
        let failure: Failure
    }

    /// Checks the types of the command line: they are for new stores; an existing store must have the same
    /// ones.
    private func checkTypes(_ entity: SchemaEntity, _ form: ListForm) throws {
        let types = try types.resolved(for: form)
        for name in types.names {
            guard let index = entity.columnIndex(named: name),
                case .attribute(let type) = entity.columns[index].kind
            else {
                throw OtherTypes(
                    failure: Failure("--type: \(entity.name) in \(title) has no attribute \(name)"))
            }
            guard types.type(of: name) != type else { continue }
            throw OtherTypes(
                failure: Failure(
                    "\(title) exists, and its \(entity.name).\(name) has type \(type.rawValue):"
                        + " omit --type, or migrate the store to another model with cairn migrate"
                ))
        }
    }

    // MARK: Rows

    private func insert(
        _ source: ListSource, _ form: ListForm, _ session: StoreSession, _ console: Console,
        _ choose: Completion
    ) throws -> Outcome {
        let description = try session.entity(entity)
        try checkConstraints(description, form)
        try checkTypes(description, form)
        let list = try reading(source, form, for: description, in: session.schema, of: session)
        list.onProgress = { records, bytes in
            console.progress(Self.progress("importing", records, bytes, of: source))
        }
        var request = list.makeRequest(createsTargets: createsTargets)
        request.author = HeldStore.current?.author ?? "cairn import"
        request.reportsRepeats = true
        request.isTrial = isTrial
        try choose(&request, description, session)
        let result = try Self.execute(request, session.store)
        console.endProgress()
        return Outcome(
            entity: entity, source: source.name, form: form.title, records: list.recordCount,
            result: result, store: title, unusedMappings: list.unusedMappings,
            repeats: Self.repeats(request.mergePolicy),
            skipsKeyless: request.missingKey == .skip, isTrial: isTrial)
    }

    /// Executes a request, or tries it.
    private static func execute(_ request: BatchInsertRequest, _ store: any CommandStore) throws
        -> BatchInsertResult
    {
        do {
            return try store.execute(request)
        } catch {
            guard let trial = error.cause as? BatchTrial else { throw error }
            return trial.result
        }
    }

    /// Creates an import of the list into an entity, of the store's schema or of a future one.
    func reading(
        _ source: ListSource, _ form: ListForm, for entity: SchemaEntity, in schema: Schema,
        of session: StoreSession
    ) throws -> ListImport {
        let list = try ListImport(
            source, form: form, entity: entity, in: schema, mapping: mapping)
        list.separator = separator
        list.identify = { text, entity in try session.objectID(text, of: entity) }
        return list
    }

    /// Returns which of several records with the same key wins.
    private static func repeats(_ policy: MergePolicyKind?) -> String {
        switch policy {
        case .mergeByPropertyObjectTrump, .overwrite: "the last one wins"
        case .declared: "they were merged by the model's rules"
        case .error, .mergeByPropertyStoreTrump, .rollback, nil: "the first one wins"
        }
    }

    static func progress(
        _ what: String, _ records: Int, _ bytes: Int, of source: ListSource
    ) -> String {
        // In another encoding, a list has a different number of bytes than in UTF-8.
        let share = source.byteCount > 0 ? min(100, bytes * 100 / source.byteCount) : 100
        return "\(what) \(source.name): \(PlainText.count(records, "record")), \(share) %"
    }

    // MARK: Stores

    /// Returns whether a store's creation was finished; if not, it is created again and requires a model.
    private static func isFinished(_ path: String) throws -> Bool {
        do {
            return try StoreSession.reading(path) { _ in true }
        } catch let error as StoreError where error.code == .openFailed {
            return false
        }
    }
}

extension ImportJob.Outcome {
    private var rowsPerSecond: Double { seconds > 0 ? Double(records) / seconds : 0 }

    /// The report for people.
    var lines: [String] {
        var counts = [
            (result.insertedCount, "inserted"), (result.updatedCount, "updated"),
            (result.unchangedCount, "unchanged"), (result.skippedCount, "skipped"),
            (result.deletedCount, "deleted"),
        ]
        if result.markedCount > 0 { counts.append((result.markedCount, "marked")) }
        let what = counts.map { "\(PlainText.number($0.0)) \($0.1)" }.joined(separator: ", ")
        let speed = PlainText.decimal(rowsPerSecond, digits: 0)
        let model =
            hasInferredModel
            ? ["\(store) is new; its model was inferred from the list (print it with cairn model)"]
            : []
        return [
            isTrial ? "a dry run, nothing was written. \(entity): \(what)" : "\(entity): \(what)",
            "\(PlainText.count(records, "record")) from \(source) (\(form)) in"
                + " \(PlainText.decimal(seconds, digits: 2)) s, \(speed) a second",
        ] + keyLines + model + changes.map(\.line)
    }

    /// The lines about records without a key, with the same key, and about targets.
    private var keyLines: [String] {
        var lines: [String] = []
        if result.repeatedCount > 0 {
            lines.append(
                "\(PlainText.count(result.repeatedCount, "record has", "records have")) the key of"
                    + " an earlier one, and \(repeats): "
                    + Self.records(result.repeatedRows, of: result.repeatedCount))
        }
        if result.createdTargetCount > 0 {
            let count = result.createdTargetCount
            lines.append(
                "\(PlainText.count(count, "relationship target"))"
                    + " \(count == 1 ? "was" : "were") created")
        }
        if result.keylessCount > 0 {
            let isOne = result.keylessCount == 1
            let what =
                skipsKeyless
                ? "\(isOne ? "was" : "were") skipped"
                : "each import adds \(isOne ? "it" : "them") again"
            lines.append(
                "\(PlainText.count(result.keylessCount, "record has", "records have")) no key,"
                    + " and \(what): " + Self.records(result.keylessRows, of: result.keylessCount))
        }
        return lines
    }

    private static func records(_ rows: [Int], of count: Int) -> String {
        let numbers = rows.map { PlainText.number($0 + 1) }.joined(separator: ", ")
        return "\(count == 1 ? "record" : "records") \(numbers)\(count > rows.count ? ", …" : "")"
    }

    /// The report for scripts.
    var json: JSONValue {
        guard isTrial, case .object(let members) = report else { return report }
        return .object(members + [.init(key: "dryRun", value: .boolean(true))])
    }

    private var report: JSONValue {
        .object([
            "entity": .string(entity), "records": .count(records),
            "inserted": .count(result.insertedCount), "updated": .count(result.updatedCount),
            "unchanged": .count(result.unchangedCount), "skipped": .count(result.skippedCount),
            "deleted": .count(result.deletedCount), "marked": .count(result.markedCount),
            "createdTargets": .count(result.createdTargetCount),
            "repeated": .count(result.repeatedCount), "keyless": .count(result.keylessCount),
            "commit": result.commit.map { .count($0) } ?? .null, "newStore": .boolean(isNewStore),
            "changes": .array(changes.map(\.json)), "list": .string(source), "form": .string(form),
            "seconds": .double(seconds),
            "rowsPerSecond": .double(rowsPerSecond.rounded()),
        ])
    }
}
