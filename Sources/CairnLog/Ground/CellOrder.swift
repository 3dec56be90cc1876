import CCairn

/// Returns the order of two cells by their bytes: negative, zero or positive.
func compareCells(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
    let common = min(left.count, right.count)
    if common > 0, let a = left.baseAddress, let b = right.baseAddress {
        let order = cairn_compare(a, b, common)
        if order != 0 { return Int(order) }
    }
    return left.count - right.count
}
