// How containers lead stores to their model.

public import CairnLog
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

    /// Folds duplicates that stand against a uniqueness constraint of the new model when the store is led to it, in the same
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
    /// The names are those of the new model, or of the old one for what the new one lacks. Without duplicates, or without a
    /// migration, nothing is done. Objects that get their key only by the migration, as a default does that stands for nil, are
    /// not looked at.
    public mutating func deduplicateWhenMigrating(_ requests: [DeduplicationRequest]) {
        migrationPrelude = MigrationPrelude.deduplicating(requests)
    }
}
