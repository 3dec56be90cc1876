// Objects that are the same ones in two states.

extension EngineState {
    /// The entity of an object to which something leads that has changed since another state; nil if the object is new since
    /// then, or gone. One that neither state has is in a part of the store that is not here.
    func entity(ofStaying number: UInt32, tree: Int, since before: EngineState) -> Int? {
        let (old, new) = (before.directories[tree][number], directories[tree][number])
        if old.isEmpty, new.isEmpty { return catalog.soleEntity(ofTree: tree) }
        if old.isEmpty || new.isEmpty { return nil }
        return Int(blocks.entry(new.handle).entity)
    }
}
