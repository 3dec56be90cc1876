// The stores that stories are told on which are about objects, and not about files.

import Cairn
import StoreBackends

extension Backend {
    /// A container over a new store of typed classes.
    func container(for types: any PersistentEntity.Type...) throws -> PersistentContainer {
        PersistentContainer(
            store: try makeStore(Schema(ManagedObjectModel(for: types))),
            classes: ObjectClasses(for: types))
    }
}
