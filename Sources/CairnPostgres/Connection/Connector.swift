// Opens connections: tries the hosts of a connection string one after another, each with its own timeout.
//
//   1. Each host is tried by itself, and each address of its name: libpq moves on from a host that refuses, but one that
//      is silent (its machine is gone, its process is stopped) it would wait for without end, as it looks after
//      `connect_timeout` in its blocking call alone.
//   2. `target_session_attrs` is libpq's to check, but for `prefer-standby`: that takes any host only when none is a
//      standby, so all are asked twice.
//   3. A server that does not know the role, its password or the database ends the search: the others would say the same.
//
// Threads: any; a value. It blocks.

import CLibPQ

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

struct Connector: Sendable {
    let string: ConnectionString
    var onNotice: @Sendable (PostgresNotice) -> Void = { _ in }

    func connect(_ bound: CallBound) throws(SQLFailure) -> ServerLink {
        let wanted = string.options["target_session_attrs"] ?? variable("PGTARGETSESSIONATTRS")
        let passes: [String?] =
            wanted == "prefer-standby" && !string.hosts.isEmpty ? ["standby", "any"] : [nil]
        var failures: [SQLFailure] = []
        for pass in passes {
            failures = []
            // Names are looked up in their turn: nobody waits for the name of a host that is not needed.
            let hosts: [ServerHost?] = string.hosts.isEmpty ? [nil] : string.hosts
            for host in hosts {
                for place in host.map({ $0.resolved.map(Optional.some) }) ?? [nil] {
                    do throws(SQLFailure) {
                        return try connect(place, pass, bound)
                    } catch {
                        failures.append(error)
                        if error.isCancelled || error.isAuthentication
                            || error.sqlState?.isMissingDatabase == true || bound.end != nil
                        {
                            throw combined(failures)
                        }
                    }
                }
            }
        }
        throw combined(failures)
    }

    /// One failure for all hosts, with the most relevant cause.
    private func combined(_ failures: [SQLFailure]) -> SQLFailure {
        guard failures.count != 1 else { return failures[0] }
        let last = failures.last
        let kind: SQLFailure.Kind = last?.isCancelled == true ? .cancelled : .notConnected
        let message = failures.map { "\($0.server): \($0.message)" }.joined(separator: "; ")
        let telling = last?.isAuthentication == true ? last : failures.first { $0.sqlState != nil }
        return SQLFailure(
            kind, message, server: string.description, sqlState: telling?.sqlState)
    }

    private func connect(
        _ host: ServerHost?, _ attributes: String?, _ bound: CallBound
    ) throws(SQLFailure) -> ServerLink {
        let place = host?.description ?? string.description
        var options = string.options
        options["host"] = host?.name
        options["hostaddr"] = host?.address
        options["port"] = host?.port
        if let attributes { options["target_session_attrs"] = attributes }
        guard let handle = Self.start(options) else {
            throw SQLFailure(.notConnected, "there is no memory for a connection", server: place)
        }
        let link = ServerLink(
            taking: handle, redacted: string.redacted, onNotice: onNotice)
        link.server = place
        // Only so does libpq tell the server's code, in its text.
        let verbosity = PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        let own = hostTime.map { bound.deadline.earlier(.after($0)) } ?? bound.deadline
        let limits = CallBound(own, isCancelled: bound.isCancelled)
        var next = PGRES_POLLING_WRITING
        while next != PGRES_POLLING_OK {
            guard !link.isBadAtStart, next != PGRES_POLLING_FAILED else { throw refusal(link) }
            // The socket may be another one at each step.
            let events = CShort(next == PGRES_POLLING_READING ? POLLIN : POLLOUT)
            while ServerLink.poll(PQsocket(handle), events, limits.pollMilliseconds) == nil {
                guard let end = limits.end else { continue }
                guard end == .timedOut else { throw link.failure(end) }
                throw SQLFailure(.notConnected, "it does not answer in time", server: place)
            }
            next = PQconnectPoll(handle)
        }
        PQsetErrorVerbosity(handle, verbosity)
        guard PQsetnonblocking(handle, 1) == 0 else { throw refusal(link) }
        link.server = Self.name(of: handle)
        return link
    }

    private static func start(_ options: [String: String]) -> OpaquePointer? {
        let given = options.sorted { $0.key < $1.key }
        var keywords = given.map { UnsafePointer(strdup($0.key)) }
        var values = given.map { UnsafePointer(strdup($0.value)) }
        defer {
            for text in keywords + values { free(UnsafeMutableRawPointer(mutating: text)) }
        }
        keywords.append(nil)
        values.append(nil)
        return PQconnectStartParams(keywords, values, 0)
    }

    /// How long a host may take; nil: as long as all of them.
    private var hostTime: Duration? {
        let text = string.options["connect_timeout"] ?? variable("PGCONNECT_TIMEOUT")
        guard let seconds = text.flatMap({ Int($0) }), seconds > 0 else { return nil }
        return .seconds(max(2, seconds))
    }

    private func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// "host:port/database" of a connection.
    private static func name(of handle: OpaquePointer) -> String {
        func text(_ value: UnsafeMutablePointer<CChar>?) -> String {
            value.map { String(cString: $0) } ?? ""
        }
        let host = text(PQhost(handle))
        return "\(host.isEmpty ? "localhost" : host):\(text(PQport(handle)))/\(text(PQdb(handle)))"
    }

    /// What libpq says of a connection that could not be made.
    private func refusal(_ link: ServerLink) -> SQLFailure {
        let (text, state) = Self.parts(link.message)
        let needsPassword = PQconnectionNeedsPassword(link.handle) == 1
        return SQLFailure(
            .notConnected, text, server: link.server,
            sqlState: state ?? (needsPassword ? SQLState("28P01") : nil))
    }

    /// "… failed: FATAL: 28P01: no LOCATION: auth_failed, auth.c:335" as "… failed: FATAL: no" and its code.
    static func parts(_ message: String) -> (text: String, state: SQLState?) {
        var words = message.split(separator: " ")
        let place = words.indices.dropFirst().first { index in
            let word = words[index]
            return word.count == 6 && word.last == ":" && words[index - 1].last == ":"
                && word.dropLast().allSatisfy { $0.isASCII && ($0.isNumber || $0.isUppercase) }
                // "FATAL:" has as many letters.
                && word.contains(where: \.isNumber)
        }
        guard let place else { return (message, nil) }
        let state = SQLState(String(words.remove(at: place).dropLast()))
        if let location = words.firstIndex(of: "LOCATION:") { words.removeSubrange(location...) }
        return (words.joined(separator: " "), state)
    }
}

extension ServerLink {
    fileprivate var isBadAtStart: Bool { PQstatus(handle) == CONNECTION_BAD }
}
