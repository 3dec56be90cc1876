import CairnFormat

/// Memory for one block at a time.
final class ScanScratch {
    /// A byte for each row, followed by the live rows, for conditions that are only evaluated on those.
    let selection: UnsafeMutablePointer<UInt8>
    let live: UnsafeMutablePointer<UInt8>
    /// Larger than the number of rows: slots are written there that are then not used.
    let slots: UnsafeMutablePointer<UInt16>

    init() {
        let most = FormatLimits.maximumRows + 8
        selection = .allocate(capacity: most * 2)
        live = selection + most
        slots = .allocate(capacity: most)
    }

    deinit {
        selection.deallocate()
        slots.deallocate()
    }
}
