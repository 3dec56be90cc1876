// A migration between two stores of tests.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Synchronization

/// What becomes of a store is another store beside it.
final class MigrationBetweenStores: MappedMigration {
    let source: any PersistentStore
    let destination: any PersistentStore
    private let states = Mutex<[String]>([])

    /// How it ended: "finished" or "cancelled"; nil as long as it has not.
    var ending: String? { states.withLock { $0.count == 1 ? $0[0] : nil } }

    init(_ source: any PersistentStore, _ destination: any PersistentStore) {
        self.source = source
        self.destination = destination
    }

    convenience init(_ stack: Stack, to model: ManagedObjectModel, _ backend: Backend) throws {
        self.init(stack.store, try backend.makeStore(Schema(model)))
    }

    /// What was told of which objects became of which.
    var successions: [ObjectSuccession] { told.withLock { $0 } }
    private let told = Mutex<[ObjectSuccession]>([])

    func finish(_ successions: [ObjectSuccession]) throws(StoreError) {
        told.withLock { $0 = successions }
        states.withLock { $0.append("finished") }
    }

    func cancel() { states.withLock { $0.append("cancelled") } }

    /// The new store.
    var stack: Stack { Stack(store: destination) }
}

/// All that a store has, without ids: for each entity a line for each object, in which objects are called by their places in
/// the order of a key.
struct Content: Equatable, CustomStringConvertible {
    let lines: [String]

    var description: String { lines.joined(separator: "\n") }

    /// Dictionaries have no order of their own.
    private static func text(_ value: Any) -> String {
        guard let parts = value as? [String: Any] else { return "\(value)" }
        return parts.map { "\($0.key): \(text($0.value))" }.sorted().joined(separator: ", ")
    }

    /// - Parameter keys: by entity the attribute that its objects are called by; different in all of them.
    init(_ stack: Stack, keys: [String: String]) throws {
        let context = stack.context()
        var lines: [String] = []
        func name(_ object: ManagedObject) -> String {
            "\(object.entity.name)/\(object[keys[object.entity.name] ?? ""] ?? "nil")"
        }
        for entity in stack.store.schema.entities where !entity.isAbstract {
            var request = FetchRequest(entityName: entity.name)
            request.includesSubentities = false
            for object in try context.fetch(request) {
                var line = name(object)
                for attribute in entity.attributes where !attribute.description.isTransient {
                    let value = object[attribute.description.name]
                    line += " \(attribute.description.name)=\(value.map(Self.text) ?? "nil")"
                }
                for relationship in entity.relationships where relationship.storage != .transient {
                    let key = relationship.description.name
                    var members: [String]
                    switch object[key] {
                    case let one as ManagedObject: members = [name(one)]
                    case let some as Set<ManagedObject>: members = some.map(name).sorted()
                    case let list as [ManagedObject]: members = list.map(name)
                    default: members = []
                    }
                    line += " \(key)=[\(members.joined(separator: ", "))]"
                }
                lines.append(line)
            }
        }
        self.lines = lines.sorted()
    }
}
