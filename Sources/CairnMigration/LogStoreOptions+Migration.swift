public import CairnLog
import CairnStore

extension LogStoreOptions {
    /// Whether a store with another version of the model is migrated when it is opened, as with
    /// ``LogStore/migrate(at:to:options:)``; false: opening it throws `.incompatibleModel`. nil: true in a container or a
    /// coordinator, false for a store that is opened on its own.
    ///
    /// Opening a store never migrates it back to a version from which it was migrated, for example when an older version of
    /// an app opens it: it throws `.incompatibleModel`. ``LogStore/migrate(at:to:options:)`` does migrate it back.
    public var shouldMigrateStoreAutomatically: Bool? {
        get {
            switch automaticMigration {
            case .on: true
            case .off: false
            case nil: nil
            }
        }
        set {
            guard newValue == true else {
                automaticMigration = newValue.map { _ in .off }
                return
            }
            automaticMigration = .on { (path, schema, options) throws(StoreError) in
                try LogStore.migrateAutomatically(at: path, to: schema, options: options)
            }
        }
    }
}
