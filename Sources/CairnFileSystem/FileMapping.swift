// A part of a file in memory: the pages of the system's cache, without a copy.
//
//   1. Accessing a page that the disk cannot read, or that lies past the end of the file, ends the process
//      (SIGBUS). So a range is populated before it is returned, which reports both as a failure. After the end
//      of the file, its last page has zeros.
//   2. The system may drop populated pages when memory is scarce, and reads them again on access.
//
// Invariants: the memory is mapped as long as the object exists, and never written through it.
// Threads: any.

internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A part of a file in memory.
package final class FileMapping: @unchecked Sendable {
    // Immutable, and so is the memory for those who read a range that is not written any more.
    private let start: UnsafeMutableRawPointer
    private let count: Int

    /// MADV_POPULATE_READ, since Linux 5.14; older headers lack the name.
    private static let populateRead: CInt = 22
    private static let pageSize = max(4096, Int(sysconf(CInt(_SC_PAGESIZE))))

    private static let isUnsupported = Atomic(false)

    /// Whether the system can populate mappings, as far as is known.
    package static var isSupported: Bool { !isUnsupported.load(ordering: .relaxed) }

    /// Maps a part of an open file; nil if the system cannot.
    ///
    /// - Parameter offset: a multiple of the system's page size.
    init?(_ descriptor: CInt, at offset: Int64, count: Int) {
        #if os(Linux)
            guard count > 0,
                let start = mmap(nil, count, PROT_READ, MAP_SHARED, descriptor, off_t(offset)),
                start != MAP_FAILED
            else { return nil }
            self.start = start
            self.count = count
        #else
            // There is no call that reports what cannot be read.
            return nil
        #endif
    }

    deinit { munmap(start, count) }

    /// Returns a range of the mapped bytes once they are in memory; nil if it is not within the mapping, or
    /// cannot be read, or if the system cannot tell.
    package func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer? {
        guard range.lowerBound >= 0, range.upperBound <= count, !range.isEmpty else { return nil }
        #if os(Linux)
            let first = range.lowerBound & ~(Self.pageSize - 1)
            while madvise(start + first, range.upperBound - first, Self.populateRead) != 0 {
                if errno == EINTR { continue }
                if errno == EINVAL { Self.isUnsupported.store(true, ordering: .relaxed) }
                return nil
            }
        #endif
        return UnsafeRawBufferPointer(start: start + range.lowerBound, count: range.count)
    }
}
