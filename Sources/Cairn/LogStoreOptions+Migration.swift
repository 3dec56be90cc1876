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

    /// Folds duplicates that violate a uniqueness constraint of the new model when the store is migrated to it, in the same
    /// commit: relationships are re-pointed, and the ids of those that go lead to those that stay.
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
    /// The names are those of the new model, or of the old one for what the new one lacks. A request may stay where it is for
    /// good: it is passed over, and folds nothing, where the migration adds no constraint over its keys and changes none, or
    /// where the entity or a key has only been added, so that no object has such a key yet. In a migration in stages it is
    /// carried out by the stage that adds the constraint. It is about the objects that the constraint holds for: not about those
    /// of entities that go, nor those that a condition of the constraint leaves out. A rule that asks for an attribute that is
    /// new finds all objects equal in it. Objects that get their key only by the migration, as a default does that stands for
    /// nil, are not looked at.
    ///
    /// The migration fails, and the store is as it was, with `.invalidRequest` if no model knows a name of a request; with
    /// `.migrationFailed` if two requests change the same object; and with `.migrationConstraintViolation` if there are
    /// duplicates still.
    ///
    /// Migrations by a mapping carry no requests out, neither by `PersistentContainer.migrateStore(at:to:mapping:)` and
    /// `LogStore.beginMigration(at:to:options:)` nor in a stage that has one: what becomes of objects is for the mapping to say.
    /// If duplicates violate a constraint then, `MigrationManager.migrate()` throws `.migrationConstraintViolation`, and a
    /// policy of the mapping has to choose among them: in its `begin` it may delete those of the manager's `sourceContext` that
    /// are not to be migrated.
    public mutating func deduplicateWhenMigrating(_ requests: [DeduplicationRequest]) {
        migrationPrelude = MigrationPrelude.deduplicating(requests)
    }
}
