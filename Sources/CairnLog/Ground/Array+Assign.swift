extension Array where Element: BitwiseCopyable {
    /// Becomes the same as another array, in the memory it has if that is as large and nobody else's.
    @inline(__always)
    mutating func assign(_ other: [Element]) {
        guard count == other.count else {
            self = other
            return
        }
        other.withUnsafeBufferPointer { source in
            // Without a change since they share their memory.
            if withUnsafeBufferPointer({ $0.baseAddress }) == source.baseAddress { return }
            withUnsafeMutableBufferPointer { target in
                guard let from = source.baseAddress, let to = target.baseAddress else { return }
                to.update(from: from, count: source.count)
            }
        }
    }
}
