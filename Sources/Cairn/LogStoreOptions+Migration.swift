// How containers migrate stores to their model.

public import CairnLog
import CairnMigration
public import CairnObjects
import CairnStore

extension LogStoreOptions {
    /// What containers and coordinators open a store with: one of another version of the model follows, unless something else is
    /// said.
    var forContainers: LogStoreOptions {
        var options = self
        options.shouldMigrateStoreAutomatically = shouldMigrateStoreAutomatically ?? true
        return options
    }

    /// When the store is migrated, merges duplicates that violate a uniqueness constraint of the new model, in the same
    /// commit: references to removed objects, and their ids, then refer to the surviving ones.
    ///
    /// ```swift
    /// var options = LogStoreOptions()
    /// options.deduplicateWhenMigrating([
    ///     DeduplicationRequest(
    ///         entityName: "User", by: ["uniqueId"], keeping: .merge([:], into: .newest(by: "modified")))
    /// ])
    /// let container = try PersistentContainer(at: "users.cairn", model: model, options: options)
    /// ```
    ///
    /// Names refer to the new model, or to the old one for what the new one lacks. You can leave a request in place: it
    /// is skipped if the migration neither adds nor changes a constraint on its keys, or if the entity or a key was
    /// only just added, so that no object has such a key yet. In a staged migration, the stage that adds the constraint
    /// executes it. A request covers the objects to which the constraint applies: not those of removed entities, nor
    /// those excluded by the constraint's condition. In a rule, a new attribute is equal for all objects. Objects that
    /// only get their key during the migration, for example from a default that replaces nil, are not considered.
    ///
    /// The migration fails, leaving the store unchanged, with `.invalidRequest` if neither model has a name in a
    /// request; with `.migrationFailed` if two requests change the same object; and with
    /// `.migrationConstraintViolation` if duplicates remain.
    ///
    /// Migrations with a mapping do not execute requests, neither `PersistentContainer.migrateStore(at:to:mapping:)`
    /// and `LogStore.beginMigration(at:to:options:)` nor a stage with a mapping: the mapping decides what becomes of
    /// objects. If duplicates violate a constraint there, `MigrationManager.migrate()` throws
    /// `.migrationConstraintViolation`, and a policy of the mapping has to resolve them: its `begin` may delete objects
    /// of the manager's `sourceContext` that should not be migrated.
    public mutating func deduplicateWhenMigrating(_ requests: [DeduplicationRequest]) {
        migrationPrelude = MigrationPrelude.deduplicating(requests)
    }
}
