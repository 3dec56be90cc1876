// Waits briefly for something that another process holds.

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

enum Pause {
    static func milliseconds(_ count: UInt32) {
        usleep(count * 1000)
    }

    static func microseconds(_ count: UInt32) {
        usleep(count)
    }

    /// Lets another thread run first, if one can.
    static func yield() {
        sched_yield()
    }
}
