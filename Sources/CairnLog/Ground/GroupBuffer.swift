// A value for each group, in plain memory that grows with the groups.
//
// Threads: one reading.

/// One value per group, initially zero.
struct GroupBuffer<Element: BitwiseCopyable>: ~Copyable {
    private(set) var values: UnsafeMutablePointer<Element>
    private var capacity: Int
    private let zero: Element

    init(_ zero: Element) {
        self.zero = zero
        capacity = 16
        values = .allocate(capacity: capacity)
        values.initialize(repeating: zero, count: capacity)
    }

    deinit { values.deallocate() }

    /// Makes room for the given number of groups.
    mutating func reserve(_ groups: Int) {
        if groups <= capacity { return }
        let more = max(groups, capacity * 2)
        let memory = UnsafeMutablePointer<Element>.allocate(capacity: more)
        memory.initialize(from: values, count: capacity)
        (memory + capacity).initialize(repeating: zero, count: more - capacity)
        values.deallocate()
        values = memory
        capacity = more
    }
}
