extension Array where Element: BitwiseCopyable {
    /// Assigns another array, reusing the memory if it is large enough and not shared.
    @inline(__always)
    mutating func assign(_ other: [Element]) {
        guard count == other.count else {
            self = other
            return
        }
        other.withUnsafeBufferPointer { source in
            // Unchanged since they share their memory.
            if withUnsafeBufferPointer({ $0.baseAddress }) == source.baseAddress { return }
            withUnsafeMutableBufferPointer { target in
                guard let from = source.baseAddress, let to = target.baseAddress else { return }
                to.update(from: from, count: source.count)
            }
        }
    }
}
