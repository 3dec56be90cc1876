// Reads the order of ordered to-many relationships.

import CairnFormat
import CairnModel
package import CairnStore

extension EngineState {
    /// Reads a block of the state.
    package typealias BlockSource = (BlockHandle) throws(StoreError) -> CachedBlock

    /// Members with their keys.
    private struct Keyed {
        var key: Int64
        var row: UInt32
        var member: UInt32
    }

    /// Returns rows that refer to an owner, in their order.
    package func sorted(_ numbers: [UInt32], entity: Int, column: Int, _ block: BlockSource)
        throws(StoreError) -> [UInt32]
    {
        guard numbers.count > 1,
            let reference = catalog.reference(ofColumn: column, entity: entity),
            let place = catalog.references[reference].order
        else { return numbers }
        let tree = catalog.entities[entity].tree
        var members: [Keyed] = []
        members.reserveCapacity(numbers.count)
        for number in numbers {
            members.append(
                Keyed(
                    key: try orderKey(tree: tree, number: number, place, block), row: number,
                    member: number))
        }
        return Self.inOrder(members)
    }

    /// Returns the far ends of the pairs of an object, in their order.
    package func orderedEnds(_ pairs: Int, near: [Int], of number: UInt32, _ block: BlockSource)
        throws(StoreError) -> [UInt32]
    {
        let entity = catalog.entityIndex(ofPairs: pairs)
        let tree = catalog.entities[entity].tree
        var members: [Keyed] = []
        for side in near {
            guard let reference = catalog.reference(ofColumn: side, entity: entity) else {
                continue
            }
            let place = catalog.references[reference].order
            for pair in sources(of: number, entity: entity, column: side) {
                guard let end = try target(of: pair, entity: entity, column: 1 - side, block)
                else { continue }
                // A pair of an object with itself is found at both ends, and counts at its source.
                if end == number, side != near[0] { continue }
                let key =
                    try place.map { place throws(StoreError) in
                        try orderKey(tree: tree, number: pair, place, block)
                    } ?? OrderKeys.key(of: pair)
                members.append(Keyed(key: key, row: pair, member: end))
            }
        }
        return Self.inOrder(members)
    }

    private static func inOrder(_ members: [Keyed]) -> [UInt32] {
        let isSorted = members.indices.dropFirst().allSatisfy {
            (members[$0 - 1].key, members[$0 - 1].row) < (members[$0].key, members[$0].row)
        }
        if isSorted { return members.map(\.member) }
        return members.sorted { ($0.key, $0.row) < ($1.key, $1.row) }.map(\.member)
    }

    /// Returns the order key of a row in a list, which derives from its number if it has no key.
    private func orderKey(tree: Int, number: UInt32, _ place: Int, _ block: BlockSource)
        throws(StoreError) -> Int64
    {
        let cell = directories[tree][number]
        guard !cell.isEmpty else {
            throw .damaged("an inverse table names an object that does not exist")
        }
        let entity = catalog.entities[Int(blocks.entry(cell.handle).entity)]
        guard let cells = try block(cell.handle).column(entity.orders[place].column),
            !cells.isNil(at: cell.slot)
        else { return OrderKeys.key(of: number) }
        return cells.integer(at: cell.slot)
    }
}
