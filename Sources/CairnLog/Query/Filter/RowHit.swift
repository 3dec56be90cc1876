/// A row that matches.
struct RowHit {
    let number: UInt32
    let cell: DirectoryCell
    let entity: Int
}

extension EngineState {
    /// Returns the row of a number; nil if there is none.
    @inline(__always)
    func hit(_ number: UInt32, in directory: RowDirectory) -> RowHit? {
        let cell = directory[number]
        guard !cell.isEmpty else { return nil }
        return RowHit(number: number, cell: cell, entity: Int(blocks.entry(cell.handle).entity))
    }
}
