/// A row that matches.
struct RowHit {
    let number: UInt32
    let cell: DirectoryCell
    let entity: Int
}
