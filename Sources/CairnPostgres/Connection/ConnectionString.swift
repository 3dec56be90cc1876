// The address and credentials of a store's server: "postgresql://db1,db2/shop?target_session_attrs=read-write" or "host=db1
// dbname=shop".
//
//   1. Our own options (`cairn_…`) are taken out: libpq refuses what it does not know.                (OwnOptions)
//   2. libpq takes the rest apart, as every other program does with such strings.
//   3. What the user left open gets our defaults; what an environment variable or a service file says stays.
//
// Invariants: `description` and all errors are free of passwords, also of those in strings that cannot be read: a
// wrong string is told by a sentence of ours, never by libpq's, which quotes parts of it.
// Threads: any; a value.

import CLibPQ
import FoundationEssentials

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A parsed connection string.
struct ConnectionString: Sendable {
    /// The schema that holds the store's tables.
    let schema: String
    /// How many prepared statements a connection keeps; 0 prepares none, as poolers need it that give each transaction another
    /// connection and do not know prepared statements.
    let preparedStatementLimit: Int
    /// What libpq gets, but for hosts.
    let options: [String: String]
    /// The hosts in the order in which they are tried; empty: libpq decides.
    let hosts: [ServerHost]

    static let defaultSchema = "cairn"
    static let defaultPreparedStatementLimit = 256

    init(_ text: String) throws(SQLFailure) {
        guard !text.utf8.contains(0) else {
            throw Self.failure("the connection string contains the character U+0000")
        }
        let own = try OwnOptions(takingFrom: text)
        schema = try Self.checkedSchema(own.values["cairn_schema"] ?? Self.defaultSchema)
        preparedStatementLimit = try Self.checkedLimit(own.values["cairn_prepared_statements"])
        var given = try Self.parse(own.rest)
        try Self.checkEncoding(given)
        hosts = try ServerHost.list(
            names: given["host"] ?? Self.inherited("host", given),
            addresses: given["hostaddr"] ?? Self.inherited("hostaddr", given),
            ports: given["port"] ?? Self.inherited("port", given))
        if !hosts.isEmpty {
            for name in ["host", "hostaddr", "port"] { given[name] = nil }
        }
        Self.addDefaults(to: &given)
        options = given
    }

    // MARK: Reading

    private static func parse(_ text: String) throws(SQLFailure) -> [String: String] {
        var message: UnsafeMutablePointer<CChar>?
        guard let list = PQconninfoParse(text, &message) else {
            let reason = message.map { Self.reason(for: String(cString: $0)) }
            PQfreemem(message)
            throw failure("the connection string cannot be read: \(reason ?? "it is not one")")
        }
        defer { PQconninfoFree(list) }
        var options: [String: String] = [:]
        var option = list
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val {
                options[String(cString: keyword)] = String(cString: value)
            }
            option += 1
        }
        return options
    }

    /// Our words for libpq's, which quote parts of the string: of a password with a space in it, say.
    private static func reason(for message: String) -> String {
        let reasons = [
            ("missing \"=\"", "a word without \"=\"; a value with spaces has to be in 'quotes'"),
            ("unterminated quoted", "a quote that is not closed"),
            ("invalid connection option", "an option unknown to libpq"),
            ("invalid URI query parameter", "an option unknown to libpq"),
            ("missing key/value", "an option without \"=\" after the \"?\""),
            ("extra key/value", "two \"=\" in an option after the \"?\""),
            ("invalid percent-encoded", "\"%\" without two hexadecimal digits after it"),
            ("forbidden value %00", "\"%00\""),
            ("end of string reached", "an address in \"[\" without \"]\""),
            ("IPv6 host address may not be empty", "\"[]\" without an address"),
            ("unexpected character", "an unexpected character after \"]\""),
        ]
        return reasons.first { message.contains($0.0) }?.1 ?? "it is not one"
    }

    /// What an environment variable or a file says. A service may say more than one knows here: libpq asks it itself.
    private static func inherited(_ keyword: String, _ given: [String: String]) -> String? {
        guard given["service"] == nil, variable("PGSERVICE") == nil else { return nil }
        guard given["host"] == nil, given["hostaddr"] == nil || keyword == "port" else {
            return nil
        }
        let variables = ["host": "PGHOST", "hostaddr": "PGHOSTADDR", "port": "PGPORT"]
        return variables[keyword].flatMap(variable)
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func addDefaults(to options: inout [String: String]) {
        // "Fallback": an environment variable and a service file come first.
        func add(_ keyword: String, _ value: String, unless variable: String? = nil) {
            if options[keyword] == nil, variable.flatMap(Self.variable) == nil {
                options[keyword] = value
            }
        }
        add("fallback_application_name", "cairn")
        add("connect_timeout", "10", unless: "PGCONNECT_TIMEOUT")
        // A server that vanished is noticed after a minute where the system would take two hours.
        add("keepalives", "1")
        add("keepalives_idle", "30")
        add("keepalives_interval", "10")
        add("keepalives_count", "3")
        options["client_encoding"] = "UTF8"
    }

    // MARK: Checking

    private static func checkedSchema(_ name: String) throws(SQLFailure) -> String {
        guard !name.isEmpty, name.utf8.count <= 63, !name.utf8.contains(0), !name.hasPrefix("pg_")
        else {
            throw failure(
                "cairn_schema must be a name of 1 to 63 bytes that does not start with \"pg_\"")
        }
        return name
    }

    private static func checkedLimit(_ text: String?) throws(SQLFailure) -> Int {
        guard let text else { return defaultPreparedStatementLimit }
        guard let limit = Int(text), limit >= 0, limit <= 100_000 else {
            throw failure("cairn_prepared_statements must be a number from 0 to 100000")
        }
        return limit
    }

    private static func checkEncoding(_ options: [String: String]) throws(SQLFailure) {
        guard let encoding = options["client_encoding"]?.uppercased() else { return }
        guard ["UTF8", "UTF-8", "UNICODE", "AUTO"].contains(encoding) else {
            throw failure("client_encoding must be UTF8: omit it")
        }
    }

    static func failure(_ message: String) -> SQLFailure {
        SQLFailure(.badConnectionString, message)
    }
}

extension ConnectionString: CustomStringConvertible {
    /// For people, logs and errors: what is shown is on a list, so that no secret is, whatever libpq learns to take.
    var description: String {
        let places = hosts.isEmpty ? "" : hosts.map(\.description).joined(separator: ",")
        let user = options["user"].map { "\(Self.escaped($0))@" } ?? ""
        let shown = ["target_session_attrs", "sslmode", "application_name", "service"]
        var query = shown.compactMap { name in
            options[name].map { "\(name)=\(Self.escaped($0))" }
        }
        if schema != Self.defaultSchema { query.append("cairn_schema=\(Self.escaped(schema))") }
        // What a user took for a database may be a whole connection string, for libpq would.
        let database = options["dbname"].map { "/\(Self.escaped($0))" } ?? ""
        return "postgresql://\(user)\(places)\(database)"
            + (query.isEmpty ? "" : "?\(query.joined(separator: "&"))")
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: "."), UInt8(ascii: "~"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                result += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return result
    }

    /// A text of libpq or the server without the secrets of this string, should it ever quote them.
    func redacted(_ text: String) -> String {
        var text = text
        for name in ["password", "sslpassword"] {
            guard let secret = options[name], !secret.isEmpty, secret != options["user"] else {
                continue
            }
            text = text.replacing(secret, with: "…")
        }
        return text
    }
}
