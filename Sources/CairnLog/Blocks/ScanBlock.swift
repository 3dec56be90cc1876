/// A block of a scan.
struct ScanBlock: BitwiseCopyable {
    /// How it is looked at.
    enum Look: BitwiseCopyable { case plainly, andNote, nothing }

    let entity: Int
    let handle: BlockHandle
    let entry: BlockEntry
    var look = Look.plainly
}
