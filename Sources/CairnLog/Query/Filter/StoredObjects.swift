// The rows of one state as objects for predicates and expressions.
//
//   let objects = StoredObjects(reader: reader, state: state)
//   let price = try ExpressionEvaluator(expression)
//   let value = price.value(for: objects.object(number, of: entity))
//   try objects.rethrow()
//
// Evaluation does not throw: an unreadable value is nil, the first error is kept here, and `rethrow` is
// called after some rows. Blocks are kept as long as they fit the budget of the cache; then all of them are
// released.
//
// Threads: owned by one reading in one thread; the state is pinned by whoever made it.

import CairnFormat
import CairnModel
import CairnStore

/// The objects of a state in one iteration.
final class StoredObjects {
    let reader: StoreReader
    let state: EngineState
    let catalog: Catalog
    /// The end of what is certainly written; a published state contains nothing after it.
    private let writtenLSN: UInt64
    /// Records which blocks are read, if requested.
    private let trace: QueryTrace?
    private var failure: StoreError?

    /// By handle: handles are dense.
    private var blocks: [CachedBlock?] = []
    private var cost = 0

    /// By condition: what it has found for the objects at the other end.
    private var selections: [ObjectIdentifier: AnyObject] = [:]

    init(
        reader: StoreReader, state: EngineState, writtenLSN: UInt64 = .max, trace: QueryTrace? = nil
    ) {
        self.reader = reader
        self.state = state
        self.writtenLSN = writtenLSN
        self.trace = trace
        catalog = state.catalog
    }

    var identity: StoreIdentity { reader.identity }

    // MARK: Errors

    /// Keeps the first error.
    func fail(_ error: StoreError) { if failure == nil { failure = error } }

    /// Throws the first error since the last call.
    func rethrow() throws(StoreError) {
        guard let failure else { return }
        self.failure = nil
        throw failure
    }

    /// Runs the body; on an error keeps it, and returns the other value.
    @inline(__always)
    func reading<R>(or other: R, _ body: () throws(StoreError) -> R) -> R {
        do throws(StoreError) {
            return try body()
        } catch {
            fail(error)
            return other
        }
    }

    // MARK: Conditions

    /// Returns what a condition across a relationship has found so far; its initial value the first time. A
    /// condition always uses the same class.
    func selection<Selection: AnyObject>(
        of condition: AnyObject, _ first: @autoclosure () -> Selection
    ) -> Selection {
        let key = ObjectIdentifier(condition)
        if let known = selections[key] { return unsafeDowncast(known, to: Selection.self) }
        let made = first()
        selections[key] = made
        return made
    }

    // MARK: Objects

    /// Returns the object of a number in the tree of an entity. All values of an object without a row are
    /// nil.
    func object(_ number: UInt32, of entity: Int) -> StoredObject {
        let cell = state.directories[catalog.entities[entity].tree][number]
        let concrete = cell.isEmpty ? entity : Int(state.blocks.entry(cell.handle).entity)
        return StoredObject(
            self, number: number, cell: cell, entity: catalog.description(of: concrete))
    }

    /// Returns the object whose row is at a known place.
    func object(_ number: UInt32, _ cell: DirectoryCell, of entity: Int, in block: CachedBlock)
        -> StoredObject
    {
        StoredObject(
            self, number: number, cell: cell, entity: catalog.description(of: entity), block: block)
    }

    // MARK: Blocks

    /// Returns the block of a handle.
    func block(_ handle: BlockHandle) throws(StoreError) -> CachedBlock {
        let index = Int(handle.raw)
        if index < blocks.count, let block = blocks[index] { return block }
        let block = try block(state.blocks.entry(handle))
        if cost > reader.cache.readingBudget {
            blocks.removeAll(keepingCapacity: true)
            cost = 0
        }
        while blocks.count <= index { blocks.append(nil) }
        blocks[index] = block
        cost += block.decodedCost
        return block
    }

    /// Returns the block of an entry, which is not kept here.
    func block(_ entry: BlockEntry) throws(StoreError) -> CachedBlock {
        trace?.read(entry)
        if writtenLSN != .max {
            let segment = state.segments.current
            if segment.number == entry.segment,
                segment.baseLSN + UInt64(entry.place.byteOffset) >= writtenLSN
            {
                return try reader.unwrittenBlock(entry.place, in: state)
            }
        }
        return try reader.block(entry, in: state)
    }

    // MARK: Values

    /// Returns the value of a column in a slot.
    func value(
        _ index: Int, of entity: SchemaEntity, _ block: CachedBlock, _ slot: Int
    ) throws(StoreError) -> Value {
        let stored = catalog.entities[entity.index].columns[index]
        let cells = try block.cells(stored, at: index).pointee
        if cells.isNil(slot) { return .null }
        switch entity.columns[index].kind {
        case .reference(let root):
            return .objectID(
                identity.id(UInt64(bitPattern: cells.integer(slot)), entity: root))
        case .attribute(let type): return try Value.stored(cells, slot, type, block)
        }
    }

    // MARK: Relationships

    /// Returns the number that a to-one column refers to.
    func target(
        _ column: Int, of entity: SchemaEntity, _ block: CachedBlock, _ slot: Int
    ) throws(StoreError) -> UInt32? {
        let stored = catalog.entities[entity.index].columns[column]
        let cells = try block.cells(stored, at: column).pointee
        return cells.isNil(slot) ? nil : UInt32(truncatingIfNeeded: cells.integer(slot))
    }

    /// Returns the members of a to-many relationship, in the order of their numbers.
    func members(_ relationship: Int, of entity: SchemaEntity, _ number: UInt32)
        throws(StoreError) -> [UInt32]
    {
        let description = entity.relationships[relationship]
        if description.storage == .transient {
            throw StoreError(
                .invalidRequest, "the relationship is transient: its members are not stored",
                context: .init(entity: entity.name, key: description.description.name))
        }
        return try state.members(of: number, description, entity: entity.index) {
            handle throws(StoreError) in try block(handle)
        }
    }
}
