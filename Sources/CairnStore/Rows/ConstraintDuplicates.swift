// Objects of a store that violate a uniqueness constraint of another version of its model.

public import CairnModel

/// Objects that violate a uniqueness constraint because they share values.
///
/// ```swift
/// for duplicates in try LogStore.duplicates(at: "shop.cairn", for: newModel) {
///     print(duplicates)  // Product(code): 12 keys are shared by 27 objects
/// }
/// ```
public struct ConstraintDuplicates: Sendable, Hashable {
    /// A key that several objects have.
    public struct Example: Sendable, Hashable {
        /// The values, in the order of ``ConstraintDuplicates/properties``.
        public let values: [Value]
        /// Some of the objects that have them.
        public let objectIDs: [ObjectID]
        /// How many objects have them.
        public let count: Int

        /// An example.
        package init(values: [Value], objectIDs: [ObjectID], count: Int) {
            self.values = values
            self.objectIDs = objectIDs
            self.count = count
        }
    }

    /// The name, in the new model, of the entity that declares the constraint.
    public let entity: String
    /// The names of the constraint's properties in the new model.
    public let properties: [String]
    /// The number of keys that several objects share.
    public let keys: Int
    /// The number of objects that share them.
    public let objects: Int
    /// Some of the keys: those of the objects that were created first.
    public let examples: [Example]

    /// A report.
    package init(
        entity: String, properties: [String], keys: Int, objects: Int, examples: [Example]
    ) {
        self.entity = entity
        self.properties = properties
        self.keys = keys
        self.objects = objects
        self.examples = examples
    }
}

extension ConstraintDuplicates: CustomStringConvertible {
    /// The numbers of keys and objects, without values.
    public var description: String {
        let list = properties.joined(separator: ", ")
        return
            "\(entity)(\(list)): \(keys) \(keys == 1 ? "key is" : "keys are") shared by \(objects) objects"
    }

    /// The error of it, as a part of one that says why a store cannot follow its model.
    package var error: StoreError {
        let count =
            "\(keys) \(keys == 1 ? "key is" : "keys are") shared by \(objects) objects"
        let told = examples.map { example in
            let values = zip(properties, example.values).map { "\($0) = \($1)" }
                .joined(separator: ", ")
            var ids = example.objectIDs.map { "p\($0.reference)" }
            if example.count > ids.count { ids.append("…") }
            return "\(example.count) objects have \(values): \(ids.joined(separator: ", "))"
        }
        return StoreError(
            .constraintConflict, count,
            context: .init(
                entity: entity, key: properties.joined(separator: ", "),
                detail: "\(count): " + told.joined(separator: "; ")))
    }
}

/// Why a store cannot be migrated to its model: the cause of an error with
/// ``StoreError/Code/migrationConstraintViolation``.
public struct MigrationDuplicates: Error, Sendable {
    /// The violations of each constraint.
    public let constraints: [ConstraintDuplicates]

    /// The error that says so.
    package static func error(_ constraints: [ConstraintDuplicates]) -> StoreError {
        StoreError(
            .migrationConstraintViolation,
            "cannot migrate store in place: constraint violation during attempted migration; "
                + "deduplication rules, or the policy of a mapping model, can merge the objects with the same key",
            details: constraints.map(\.error), cause: MigrationDuplicates(constraints: constraints))
    }
}
