// Reports writes to a file by any process. Linux only.
//
//   1. One descriptor and one thread serve all watches of the process; the first watch creates both, and they
//      stay.
//   2. The kernel has one number per file for all its watches: the last watch of a file removes it.
//   3. The thread waits in the kernel, so a file without writes costs nothing.
//
// Threads: any; one lock. What is told runs in the thread of all watches, without the lock: it is to be short.

/// A watch that is notified of writes to a file until it is stopped.
package protocol FileWatch: AnyObject, Sendable {
    /// Stops the watch: no notification starts after it, though one may be in progress.
    func stop()
}

#if os(Linux)

    #if canImport(Glibc)
        internal import Glibc
    #else
        internal import Musl
    #endif
    internal import Synchronization
    internal import SystemPackage

    /// A watch that uses inotify.
    final class InotifyWatch: FileWatch {
        private let number: CInt
        private let place: UInt64

        /// Returns nil if the system provides no watch.
        init?(_ path: FilePath, _ body: @escaping @Sendable () -> Void) {
            guard let (number, place) = InotifyWatches.shared.add(path, body) else { return nil }
            self.number = number
            self.place = place
        }

        deinit { stop() }

        func stop() { InotifyWatches.shared.remove(number, place) }
    }

    /// All watches of the process.
    private final class InotifyWatches: Sendable {
        static let shared = InotifyWatches()

        private struct Contents {
            var bodies: [CInt: [UInt64: @Sendable () -> Void]] = [:]
            var last: UInt64 = 0
        }

        /// Microseconds between two notifications.
        private static let pause: UInt32 = 5000

        /// -1 if inotify is unavailable.
        private let descriptor: CInt
        private let contents = Mutex(Contents())

        private init() {
            let opened = inotify_init1(CInt(IN_CLOEXEC))
            guard opened >= 0 else {
                descriptor = -1
                return
            }
            var thread = pthread_t(bitPattern: 0)
            let code = pthread_create(
                &thread, nil,
                { _ in
                    InotifyWatches.shared.run()
                    return nil
                }, nil)
            if code == 0 { pthread_detach(thread) } else { close(opened) }
            descriptor = code == 0 ? opened : -1
        }

        func add(_ path: FilePath, _ body: @escaping @Sendable () -> Void) -> (CInt, UInt64)? {
            guard descriptor >= 0 else { return nil }
            return contents.withLock { contents in
                let number = path.withPlatformString {
                    inotify_add_watch(descriptor, $0, UInt32(IN_MODIFY))
                }
                guard number >= 0 else { return nil }
                contents.last += 1
                contents.bodies[number, default: [:]][contents.last] = body
                return (number, contents.last)
            }
        }

        func remove(_ number: CInt, _ place: UInt64) {
            contents.withLock { contents in
                guard contents.bodies[number]?.removeValue(forKey: place) != nil,
                    contents.bodies[number]?.isEmpty == true
                else { return }
                contents.bodies[number] = nil
                _ = inotify_rm_watch(descriptor, number)
            }
        }

        private func run() {
            let size = 4096
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
            defer { buffer.deallocate() }
            while true {
                let count = read(descriptor, buffer.baseAddress, size)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return }
                var numbers: Set<CInt> = []
                // Events that the kernel dropped may concern any file.
                var hasLost = false
                var offset = 0
                while offset + MemoryLayout<inotify_event>.size <= count {
                    let event = buffer.loadUnaligned(
                        fromByteOffset: offset, as: inotify_event.self)
                    numbers.insert(event.wd)
                    if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { hasLost = true }
                    offset += MemoryLayout<inotify_event>.size + Int(event.len)
                }
                let bodies = contents.withLock { contents in
                    (hasLost ? Set(contents.bodies.keys) : numbers).flatMap {
                        contents.bodies[$0].map { Array($0.values) } ?? []
                    }
                }
                for body in bodies { body() }
                // Under constant writes, this combines several writes into one notification.
                usleep(Self.pause)
            }
        }
    }

#endif
