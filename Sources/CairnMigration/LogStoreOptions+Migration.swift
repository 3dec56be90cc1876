public import CairnLog
import CairnStore

extension LogStoreOptions {
    /// Whether a store of another version of the model is migrated to the one that it is opened with, as
    /// ``LogStore/migrate(at:to:options:)`` does; false: opening it throws `.incompatibleModel`. nil: a container or a coordinator
    /// does so, a store that is opened by itself does not.
    ///
    /// Opening never migrates it back to a version that it has left, as an older version of an app would have it: it throws
    /// `.incompatibleModel`. ``LogStore/migrate(at:to:options:)`` does migrate it back.
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
