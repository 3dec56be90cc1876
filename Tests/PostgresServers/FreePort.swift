// Ports of this machine that nobody uses.
//
// They are taken from below those that the system gives to outgoing connections: a server that is stopped for a while
// would else find its port in use.
//
// Threads: any.

import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

package enum FreePort {
    package struct NoneFound: Error {}

    private static let given = Mutex<Set<Int>>([])

    /// One that this process has not been given before.
    package static func find() throws -> Int {
        for _ in 0..<1000 {
            let port = Int.random(in: 15_000..<30_000)
            guard given.withLock({ $0.insert(port).inserted }), isFree(port) else { continue }
            return port
        }
        throw NoneFound()
    }

    private static func isFree(_ port: Int) -> Bool {
        #if canImport(Glibc)
            let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
        #else
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        return withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
