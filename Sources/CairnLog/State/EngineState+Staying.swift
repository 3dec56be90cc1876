// Objects that exist in two states.

extension EngineState {
    /// Returns the entity of an object that exists both in this state and in an earlier one; nil if it was
    /// created or deleted in between. An object in neither state is in a part of the store that is not
    /// available.
    func entity(ofStaying number: UInt32, tree: Int, since before: EngineState) -> Int? {
        let (old, new) = (before.directories[tree][number], directories[tree][number])
        if old.isEmpty, new.isEmpty { return catalog.soleEntity(ofTree: tree) }
        if old.isEmpty || new.isEmpty { return nil }
        return Int(blocks.entry(new.handle).entity)
    }
}
