/// A block of a scan.
struct ScanBlock: BitwiseCopyable {
    /// How it is looked at.
    enum Look: BitwiseCopyable { case plainly, andNote, nothing }

    let entity: Int
    let handle: BlockHandle
    let entry: BlockEntry
    var look = Look.plainly
}

/// Blocks that are looked at one after the other.
struct ScanList {
    var blocks: [ScanBlock]
    /// The columns whose zones are noted of blocks that are marked so.
    let noted: [Int]
}
