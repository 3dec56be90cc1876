// The work of an import.
//
//   1. The list's form is found.
//   2. A store that exists is opened, and its model rules. A new one is made with the model that is given,
//      or one inferred from the list.
//   3. The list goes into one batch insert: all of it or nothing.
//   4. A store that was made for an import that failed is taken away again, before anybody else can write
//      to it. One that another process made meanwhile stays.

import CairnInspection
import CairnLog
import CairnModel
import CairnStore
import FoundationEssentials

/// An import into a store.
struct ImportJob {
    let store: String
    let entity: String
    let model: String?
    let unique: [[String]]
    let mapping: FieldMapping

    /// What an import did.
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
        var unusedMappings: [String] = []
    }

    /// Imports a list; `choose` completes the request.
    func run(
        _ source: ListSource, console: Console,
        choose: (inout BatchInsertRequest, SchemaEntity) throws -> Void
    ) throws -> Outcome {
        let start = ContinuousClock.now
        let form = try ListForm(of: source)
        let exists = try Self.isStore(store) && (unique.isEmpty || Self.isFinished(store))
        let hadFolder = FileManager.default.fileExists(atPath: store)
        let schema = try schema(exists: exists, source, form, console)
        return try StoreSession.making(store, schema) { session in
            // Who made the store is known only now: another process may have been faster.
            let isNew = session.store.recovery.wasCreated
            do {
                var outcome = try insert(source, form, session, console, choose)
                outcome.isNewStore = isNew
                outcome.hasInferredModel = isNew && model == nil
                outcome.seconds = (ContinuousClock.now - start) / .seconds(1)
                return outcome
            } catch {
                // The store is still open, and the writer's lock ours.
                if isNew { Self.remove(store, keepingFolder: hadFolder) }
                throw error
            }
        }
    }

    // MARK: Models

    /// The schema of a new store, or what an existing one must have.
    private func schema(
        exists: Bool, _ source: ListSource, _ form: ListForm, _ console: Console
    ) throws -> Schema? {
        if let model {
            let file = try ModelFile(contentsOfFile: model)
            for warning in file.warnings { console.printError("cairn: note: \(warning)") }
            return file.schema
        }
        if exists { return nil }
        guard !unique.isEmpty else {
            throw Failure(
                "\(store) does not exist yet: a new store needs --model, or --unique with the"
                    + " attributes that tell objects apart", code: .usage)
        }
        let model = try ModelInference.model(
            of: source, form: form, entity: entity, unique: unique, mapping: mapping
        ) { records, bytes in
            console.progress(Self.progress("looking at", records, bytes, of: source))
        }
        return try Schema(model)
    }

    private func checkConstraints(_ entity: SchemaEntity, _ form: ListForm) throws {
        for names in unique {
            let keys = form.isFeatures ? names.map(FieldMapping.withoutPropertiesPrefix) : names
            guard !entity.plainConstraints.contains(where: { $0.names == keys }) else { continue }
            let all = entity.plainConstraints.map { $0.names.joined(separator: ",") }
            throw Failure(
                "\(store) exists, and its \(entity.name) is not unique on \(keys.joined(separator: ","))"
                    + (all.isEmpty ? "" : " but on \(all.joined(separator: " and on "))")
                    + ": leave --unique out")
        }
    }

    // MARK: Rows

    private func insert(
        _ source: ListSource, _ form: ListForm, _ session: StoreSession, _ console: Console,
        _ choose: (inout BatchInsertRequest, SchemaEntity) throws -> Void
    ) throws -> Outcome {
        let description = try session.entity(entity)
        try checkConstraints(description, form)
        let list = try ListImport(source, form: form, entity: description, mapping: mapping)
        list.onProgress = { records, bytes in
            console.progress(Self.progress("importing", records, bytes, of: source))
        }
        var request = list.makeRequest()
        request.author = "cairn import"
        try choose(&request, description)
        let result = try session.store.execute(request)
        console.endProgress()
        return Outcome(
            entity: entity, source: source.name, form: form.title, records: list.recordCount,
            result: result, store: store, unusedMappings: list.unusedMappings)
    }

    private static func progress(
        _ what: String, _ records: Int, _ bytes: Int, of source: ListSource
    ) -> String {
        let share = source.byteCount > 0 ? bytes * 100 / source.byteCount : 100
        return "\(what) \(source.name): \(PlainText.count(records, "record")), \(share) %"
    }

    // MARK: Files

    /// Whether a folder holds a store, or something of one.
    static func isStore(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: "\(path)/lock")
    }

    /// Whether a store's creation was finished; if not, it is made anew and needs a model.
    private static func isFinished(_ path: String) throws -> Bool {
        do {
            return try StoreSession.reading(path) { _ in true }
        } catch let error as StoreError where error.code == .openFailed {
            return false
        }
    }

    private static func remove(_ path: String, keepingFolder: Bool) {
        // It was made a moment ago and holds nothing; what cannot be removed does no harm either.
        let files = FileManager.default
        for name in (try? files.contentsOfDirectory(atPath: path)) ?? []
        where name == "lock" || name.hasSuffix(".segment") {
            try? files.removeItem(atPath: "\(path)/\(name)")
        }
        guard !keepingFolder, (try? files.contentsOfDirectory(atPath: path)) == [] else { return }
        try? files.removeItem(atPath: path)
    }
}

extension ImportJob.Outcome {
    private var rowsPerSecond: Double { seconds > 0 ? Double(records) / seconds : 0 }

    /// For people.
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
            ? ["\(store) is new, its model was read off the list: cairn model shows it"] : []
        return [
            "\(entity): \(what)",
            "\(PlainText.count(records, "record")) from \(source) (\(form)) in"
                + " \(PlainText.decimal(seconds, digits: 2)) s, \(speed) a second",
        ] + model
    }

    /// For scripts.
    var json: JSONValue {
        .object([
            "entity": .string(entity), "records": .count(records),
            "inserted": .count(result.insertedCount), "updated": .count(result.updatedCount),
            "unchanged": .count(result.unchangedCount), "skipped": .count(result.skippedCount),
            "deleted": .count(result.deletedCount), "marked": .count(result.markedCount),
            "commit": result.commit.map { .count($0) } ?? .null, "newStore": .boolean(isNewStore),
            "list": .string(source), "form": .string(form), "seconds": .double(seconds),
            "rowsPerSecond": .double(rowsPerSecond.rounded()),
        ])
    }
}
