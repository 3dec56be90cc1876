/// A block of a scan.
struct ScanBlock: BitwiseCopyable {
    /// How it is scanned.
    enum Look: BitwiseCopyable { case plainly, andNote, nothing }

    let entity: Int
    let handle: BlockHandle
    let entry: BlockEntry
    var look = Look.plainly
}

/// Blocks that are scanned one after another.
struct ScanList {
    var blocks: [ScanBlock]
    /// The columns whose zones are noted for blocks that are marked so.
    let noted: [Int]
}
