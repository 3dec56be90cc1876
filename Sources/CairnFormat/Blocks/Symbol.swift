// A short piece of text that often occurs.                                                        Format 50.16

/// One to eight bytes, the first of them lowest.
struct Symbol: Equatable, BitwiseCopyable {
    var bytes: UInt64
    var length: Int

    /// Both together, cut to what a symbol can be.
    func followed(by next: Symbol) -> Symbol {
        let length = min(length + next.length, SymbolTable.longest)
        return Symbol(
            bytes: (bytes | next.bytes << UInt64(self.length * 8))
                & PackedNumbers.mask(length * 8),
            length: length)
    }
}
