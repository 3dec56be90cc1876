// What a context is to a migration.

/// What a context is to a migration.
enum MigrationPart {
    /// It reads the old store. What is changed in it counts for the migration, and is never written.
    case source
    /// It writes the new store, in several saves, before its objects are whole.
    case destination
}
