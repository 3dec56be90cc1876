// Contexts of typed classes.

import Cairn

/// A context of a new store in memory, whose model the classes declare.
func typedContext(_ types: any PersistentEntity.Type...) throws -> ManagedObjectContext {
    let store = try LogStore.inMemory(schema: try Schema(ManagedObjectModel(for: types)))
    return ManagedObjectContext(store: store, classes: ObjectClasses(for: types))
}
