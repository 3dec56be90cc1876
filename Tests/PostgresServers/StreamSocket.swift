// A TCP connection of this machine, as bytes.
//
// Threads: any; each end of it for one at a time.

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

final class StreamSocket: Sendable {
    struct Failure: Error {}

    let descriptor: CInt

    private init(_ descriptor: CInt) {
        self.descriptor = descriptor
        // A child of the process would else keep it open.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var on: CInt = 1
        setsockopt(
            descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<CInt>.size))
    }

    deinit { close(descriptor) }

    private static func make() throws -> StreamSocket {
        #if canImport(Glibc)
            let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
        #else
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { throw Failure() }
        return StreamSocket(descriptor)
    }

    private static func withAddress(
        _ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
    ) -> CInt {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        return withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    static func listening(_ port: Int) throws -> StreamSocket {
        let made = try make()
        guard withAddress(port, { bind(made.descriptor, $0, $1) }) == 0,
            listen(made.descriptor, 128) == 0
        else { throw Failure() }
        return made
    }

    static func connected(to port: Int) throws -> StreamSocket {
        let made = try make()
        guard withAddress(port, { connect(made.descriptor, $0, $1) }) == 0 else { throw Failure() }
        return made
    }

    /// The next one that connects; nil at the end.
    func accepted() -> StreamSocket? {
        while true {
            let found = accept(descriptor, nil, nil)
            if found >= 0 { return StreamSocket(found) }
            if errno != EINTR, errno != ECONNABORTED { return nil }
        }
    }

    /// What has come; empty at the end.
    func read() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
            while true {
                let read = recv(descriptor, buffer.baseAddress, buffer.count, 0)
                if read < 0, errno == EINTR { continue }
                count = max(0, read)
                return
            }
        }
    }

    /// Whether something comes within so many milliseconds; the end counts.
    func isReadable(within milliseconds: CInt) -> Bool {
        var entry = pollfd(fd: descriptor, events: CShort(POLLIN), revents: 0)
        return poll(&entry, 1, milliseconds) > 0
    }

    /// False if the other end is gone.
    func write(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes {
                #if canImport(Darwin)
                    send(descriptor, $0.baseAddress, $0.count, 0)
                #else
                    send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
                #endif
            }
            if sent < 0, errno == EINTR { continue }
            guard sent > 0 else { return false }
            rest = rest.dropFirst(sent)
        }
        return true
    }

    /// Says that nothing more comes.
    func endWriting() { _ = shutdown(descriptor, CInt(SHUT_WR)) }

    /// Ends both directions; whoever reads or writes finds out.
    func end() { _ = shutdown(descriptor, CInt(SHUT_RDWR)) }
}
