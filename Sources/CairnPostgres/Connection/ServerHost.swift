// One of the servers in a connection string.
//
// Invariant: a name has been looked up before a connection is tried, so that each of its addresses has its own time:
// libpq would wait for the first that does not answer until all time is over.
// Threads: any; values. Looking a name up blocks as long as the system's resolver does.

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

struct ServerHost: Sendable, Hashable, CustomStringConvertible {
    /// A name, an address, or the folder of a socket; certificates are checked against it. Nil: there is only an address.
    var name: String?
    var address: String?
    /// Nil: the standard one.
    var port: String?

    var description: String {
        let place = name ?? address ?? ""
        // A folder's slashes would end the part of a URL that it stands in.
        let text = place.contains(":") ? "[\(place)]" : place.replacing("/", with: "%2F")
        return port.map { "\(text):\($0)" } ?? text
    }

    /// The hosts of three lists, as libpq reads them: one port stands for all.
    static func list(names: String?, addresses: String?, ports: String?) throws(SQLFailure)
        -> [ServerHost]
    {
        let names = split(names)
        let addresses = split(addresses)
        let ports = split(ports)
        let count = max(names.count, addresses.count)
        guard count > 0 else { return [] }
        guard names.isEmpty || addresses.isEmpty || names.count == addresses.count else {
            throw ConnectionString.failure(
                "the connection string names \(names.count) hosts and \(addresses.count) addresses for them"
            )
        }
        guard ports.count <= 1 || ports.count == count else {
            throw ConnectionString.failure(
                "the connection string names \(count) hosts and \(ports.count) ports for them")
        }
        return (0..<count).map { index in
            func item(_ list: [String], _ place: Int) -> String? {
                list.indices.contains(place) && !list[place].isEmpty ? list[place] : nil
            }
            return ServerHost(
                name: item(names, index), address: item(addresses, index),
                port: item(ports, ports.count == 1 ? 0 : index))
        }
    }

    private static func split(_ list: String?) -> [String] {
        guard let list, !list.isEmpty else { return [] }
        return list.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }

    /// It once for each of its addresses, if its name has several.
    var resolved: [ServerHost] {
        guard address == nil, let name, !name.hasPrefix("/"), !name.hasPrefix("@") else {
            return [self]
        }
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        #if canImport(Darwin) || canImport(Musl)
            hints.ai_socktype = SOCK_STREAM
        #else
            hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        #endif
        var list: UnsafeMutablePointer<addrinfo>?
        // Who cannot be found is left to libpq, which says so.
        guard getaddrinfo(name, nil, &hints, &list) == 0, let list else { return [self] }
        defer { freeaddrinfo(list) }
        var addresses: [String] = []
        var entry: UnsafeMutablePointer<addrinfo>? = list
        while let found = entry {
            let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
                let code = getnameinfo(
                    found.pointee.ai_addr, found.pointee.ai_addrlen, text.baseAddress, 256, nil, 0,
                    NI_NUMERICHOST)
                return code == 0 ? text.baseAddress.map { String(cString: $0) } : nil
            }
            if let text, !addresses.contains(text) { addresses.append(text) }
            entry = found.pointee.ai_next
        }
        guard addresses.count > 1 else { return [self] }
        return addresses.map { ServerHost(name: name, address: $0, port: port) }
    }
}
