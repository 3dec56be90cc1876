// cairn get: prints one object, by its key or id.

import ArgumentParser
import CairnInspection
import CairnModel
import CairnStore

/// Prints one object.
struct GetCommand: OneStoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Print one object, by its key or id.",
        discussion: """
            The key is the entity's first uniqueness constraint: give one value for each of its \
            attributes. Write an id as query prints it (p17) or as a URI; for an object imported \
            from Core Data, its URI there works, too. The id of an object that was merged into \
            another one gets that one.

            Example:
              cairn get shop.cairn Product A-1
            """)

    @OptionGroup var place: StoreArgument

    @Argument(help: "The entity.")
    var entity: String

    @Argument(help: "The values of the key, or the id.")
    var key: [String]

    @OptionGroup var moment: MomentOptions

    @OptionGroup var output: OutputOptions

    func run() throws {
        let console = Console.current
        try StoreSession.reading(place.store) { session in
            let entity = try session.entity(entity)
            let snapshot = try session.snapshot(moment)
            var led: ObjectID?
            guard let row = try find(entity, snapshot, session, &led) else {
                throw Failure("\(session.path) has no \(entity.name) \(key.joined(separator: " "))")
                    .ofAbsence
            }
            if let led {
                let words = "p\(led.reference) was merged into p\(row.id.reference)."
                // For programs, standard output contains only the object.
                if output.json { console.printError(words) } else { console.print(words) }
            }
            let columns = try RowColumns([], session.schema.entities[row.entity], session)
            if output.json {
                console.print(columns.json(row).line)
                return
            }
            let concrete = session.schema.entities[row.entity]
            console.print("\(concrete.name) p\(row.id.reference), version \(row.version)")
            let names = concrete.columns.map { PlainText.visible($0.name) }
            let width = names.map(\.count).max() ?? 0
            for (index, name) in names.enumerated() {
                let space = String(repeating: " ", count: width - name.count)
                let value = session.value(index, row)
                console.print(
                    "  \(name)\(space)  \(value.isNull ? "nil" : PlainText.value(value))")
            }
        }
    }

    private func find(
        _ entity: SchemaEntity, _ snapshot: any StoreSnapshot, _ session: StoreSession,
        _ led: inout ObjectID?
    ) throws -> Row? {
        if let constraint = entity.plainConstraints.first, constraint.columns.count == key.count,
            let predicate = keyPredicate(constraint, entity)
        {
            var fetch = StoreFetch(entity: entity.index, predicate: try predicate.bound(to: entity))
            fetch.includesRows = true
            if let row = try snapshot.fetch(fetch).rows.first { return row }
        }
        if key.count == 1, let id = try session.objectID(key[0], of: entity) {
            var found = try snapshot.rows([id])[0]
            if found == nil, let other = try snapshot.redirectedObjectID(for: id) {
                found = try snapshot.rows([other])[0]
                led = id
            }
            guard let row = found,
                session.schema.entities[row.entity].isKind(of: entity)
            else { return nil }
            return row
        }
        guard let constraint = entity.plainConstraints.first else {
            throw Failure("\(entity.name) has no uniqueness constraint; give an id such as p17")
        }
        guard constraint.columns.count == key.count else {
            throw Failure(
                "the key of \(entity.name) is \(constraint.names.joined(separator: ", ")): give"
                    + " \(PlainText.count(constraint.names.count, "value")), or an id such as p17")
        }
        return nil
    }

    private func keyPredicate(_ constraint: SchemaConstraint, _ entity: SchemaEntity)
        -> PredicateNode?
    {
        var parts: [PredicateNode] = []
        for (column, text) in zip(constraint.columns, key) {
            guard case .attribute(let type) = entity.columns[column].kind,
                case .value(let value) = CellConversion(text: text, as: type)
            else { return nil }
            parts.append(.compare(entity.columns[column].name, .equal, value))
        }
        return .and(parts)
    }
}
