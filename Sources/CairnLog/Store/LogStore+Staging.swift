package import CairnModel
package import CairnStore

extension LogStore: ValueStagingStore {
    /// Begins a value that is written before any object refers to it.
    package func beginValue(column: Int, of id: ObjectID, entity: Int) throws(StoreError)
        -> (any ValueStaging)?
    {
        try checkOpen()
        return try engine.beginValue(column: column, of: id, entity: entity)
    }
}
