// The memory of a decoded column while it is filled.
//
// Invariants: the parts are in one allocation, each at a multiple of 16; it is freed unless `take` passes it
// to the column.
// Threads: belongs to the function that decodes.

struct DecodedParts: ~Copyable {
    let kind: ColumnKind
    let count: Int
    let nils: UnsafeMutablePointer<UInt8>?
    let externals: UnsafeMutablePointer<UInt8>?
    let offsets: UnsafeMutablePointer<UInt32>
    let codes: UnsafeMutablePointer<UInt16>?
    let values: UnsafeMutableRawPointer
    let byteCount: Int
    var nilCount = 0
    var width = 0
    var base: Int64 = 0
    var dictionaryCount = 0
    private let allocation: UnsafeMutableRawPointer

    /// - Parameters:
    ///   - offsets: the number of offsets.
    ///   - valueBytes: bounded by the caller: at most the limit of a block.
    init(
        kind: ColumnKind, count: Int, hasNils: Bool, hasExternals: Bool = false, offsets: Int = 0,
        hasCodes: Bool = false, valueBytes: Int
    ) {
        func padded(_ size: Int) -> Int { (size + 15) & ~15 }
        let nilSize = hasNils ? padded(count) : 0
        let externalSize = hasExternals ? padded(count) : 0
        let offsetSize = padded(offsets * 4)
        let codeSize = hasCodes ? padded(count * 2) : 0
        let total = nilSize + externalSize + offsetSize + codeSize + padded(valueBytes)
        // Padding, so that eight bytes can be loaded and stored wherever a value begins.
        let memory = UnsafeMutableRawPointer.allocate(byteCount: total + 16, alignment: 16)
        self.kind = kind
        self.count = count
        nils = hasNils ? memory.bindMemory(to: UInt8.self, capacity: count) : nil
        var start = memory + nilSize
        externals = hasExternals ? start.bindMemory(to: UInt8.self, capacity: count) : nil
        start += externalSize
        self.offsets = start.bindMemory(to: UInt32.self, capacity: offsets)
        start += offsetSize
        codes = hasCodes ? start.bindMemory(to: UInt16.self, capacity: count) : nil
        values = start + codeSize
        byteCount = total
        allocation = memory
    }

    deinit {
        allocation.deallocate()
    }

    /// Passes ownership of the allocation to a column.
    consuming func take() -> UnsafeMutableRawPointer {
        let memory = allocation
        discard self
        return memory
    }
}
