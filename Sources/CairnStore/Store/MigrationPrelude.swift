// The changes that are saved in the commit of a migration, before the model changes.

package import CairnModel

/// Changes that are saved under the old model, in the same commit that changes the model.
package struct MigrationPrelude: Sendable {
    /// Makes the changes of a store as it is, told the plan and other models that are passed through; nil: there are none.
    package typealias Maker =
        @Sendable (any PersistentStore, ModelMigrationPlan, [Schema]) throws(StoreError) ->
        MigrationPrelude?

    /// They are saved one after the other.
    package let requests: [SaveRequest]
    /// How many objects they fold into others.
    package let foldedObjects: Int

    package init(_ requests: [SaveRequest], foldedObjects: Int) {
        self.requests = requests
        self.foldedObjects = foldedObjects
    }
}
