import CairnFormat

/// Memory for one block at a time.
final class ScanScratch {
    /// A byte for each row, and behind them what lives, for conditions that are asked only of that.
    let selection: UnsafeMutablePointer<UInt8>
    let live: UnsafeMutablePointer<UInt8>
    /// Some more than rows: where slots are written that are then not taken.
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
