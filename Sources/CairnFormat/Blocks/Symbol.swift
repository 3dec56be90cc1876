// A short byte sequence that occurs often.                                                       Format 50.16

/// One to eight bytes, the first one lowest.
struct Symbol: Equatable, BitwiseCopyable {
    var bytes: UInt64
    var length: Int

    /// Returns both symbols joined, cut to the maximum length of a symbol.
    func followed(by next: Symbol) -> Symbol {
        let length = min(length + next.length, SymbolTable.longest)
        return Symbol(
            bytes: (bytes | next.bytes << UInt64(self.length * 8))
                & PackedNumbers.mask(length * 8),
            length: length)
    }
}
