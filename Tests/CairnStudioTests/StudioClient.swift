// A browser of the simplest kind: bytes out, bytes in, one connection a request.

import FlyingSocks
import Foundation
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// What came back.
struct StudioResponse {
    let status: Int
    /// By names in small letters.
    let headers: [String: String]
    let body: Data
    /// What came behind the body.
    let rest: Data

    var text: String { String(decoding: body, as: UTF8.self) }
    var lines: [String] { text.split(separator: "\n").map(String.init) }

    /// The body as an object.
    var json: [String: Any] {
        get throws {
            try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any], "\(text)")
        }
    }

    /// The error in the body.
    var error: [String: Any] {
        get throws { try #require(try json["error"] as? [String: Any], "\(text)") }
    }

    /// Takes the first response out of what a server has sent.
    init?(_ bytes: Data) {
        guard let end = bytes.firstRange(of: Data("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
            .components(separatedBy: "\r\n")
        guard let status = lines[0].split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return nil }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { return nil }
            headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        let behind = Data(bytes[end.upperBound...])
        let length = headers["content-length"].flatMap { Int($0) } ?? behind.count
        guard behind.count >= length else { return nil }
        self.status = status
        self.headers = headers
        body = behind.prefix(length)
        rest = Data(behind.dropFirst(length))
    }
}

/// What came is no response.
struct NoResponse: Error {
    let text: String
}

/// Sends requests to a studio.
struct StudioClient: Sendable {
    let port: UInt16
    /// What the Cookie header is; nil: there is none.
    var cookie: String?

    /// A client that is let in by an address.
    static func letIn(by address: String) async throws -> StudioClient {
        let parts = try #require(URLComponents(string: address))
        var client = StudioClient(port: UInt16(try #require(parts.port)))
        let response = try await client.send("GET", "/?" + (parts.percentEncodedQuery ?? ""))
        #expect(response.status == 303)
        #expect(response.headers["location"] == "/")
        client.cookie = response.headers["set-cookie"].map { String($0.prefix { $0 != ";" }) }
        return client
    }

    /// Sends a request with the headers that a browser would send, but for those that are given; one that is nil is left out.
    func send(
        _ method: String, _ target: String, _ changed: [String: String?] = [:], body: Data? = nil
    ) async throws -> StudioResponse {
        var headers: [String: String?] = [
            "Host": "127.0.0.1:\(port)", "Connection": "close", "Cookie": cookie,
        ]
        if let body {
            headers["Content-Length"] = "\(body.count)"
            headers["Content-Type"] = "application/json"
            headers["X-Cairn-Studio"] = "1"
        }
        for (name, value) in changed { headers[name] = value }
        var head = "\(method) \(target) HTTP/1.1\r\n"
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
            if let value { head += "\(name): \(value)\r\n" }
        }
        let bytes = try await exchange(Data((head + "\r\n").utf8) + (body ?? Data()))
        // Thrown, and not noted: whoever waits for a server that ends may get none.
        guard let response = StudioResponse(bytes) else {
            throw NoResponse(text: String(decoding: bytes, as: UTF8.self))
        }
        return response
    }

    /// Sends bytes and reads until the server closes the connection.
    func exchange(_ bytes: Data) async throws -> Data {
        let port = port
        // Waiting for the server needs a thread that the server's tasks do without.
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try Self.exchange(bytes, with: port) })
            }
        }
    }

    private static func exchange(_ bytes: Data, with port: UInt16) throws -> Data {
        let socket = try Socket(domain: AF_INET)
        defer { try? socket.close() }
        try socket.connect(to: try sockaddr_in.inet(ip4: "127.0.0.1", port: port))
        do {
            var sent = bytes.startIndex
            while sent < bytes.endIndex { sent = try socket.write(bytes, from: sent) }
        } catch SocketError.disconnected {
            // A server that has seen enough need not have read it all.
        }
        var answer = Data()
        do {
            while true { answer.append(contentsOf: try socket.read(atMost: 1 << 16)) }
        } catch SocketError.disconnected {
            return answer
        }
    }

    // MARK: What the page does

    /// The target of a path with parameters.
    static func target(_ path: String, _ parameters: [(String, String)]) -> String {
        let plain = CharacterSet.alphanumerics
        let query = parameters.map { name, value in
            "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: plain) ?? "")"
        }
        return "/api/\(path)" + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    }

    func get(_ path: String, _ parameters: KeyValuePairs<String, String> = [:]) async throws
        -> StudioResponse
    {
        try await send("GET", Self.target(path, parameters.map { ($0.key, $0.value) }))
    }

    func post(_ path: String, _ json: String = "{}") async throws -> StudioResponse {
        try await send("POST", "/api/\(path)", body: Data(json.utf8))
    }

    func importList(_ text: String, _ parameters: KeyValuePairs<String, String>) async throws
        -> StudioResponse
    {
        try await send(
            "POST", Self.target("import", parameters.map { ($0.key, $0.value) }),
            ["Content-Type": "application/octet-stream"], body: Data(text.utf8))
    }
}
