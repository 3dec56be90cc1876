// Takes requests from the HTTP library, has the gate judge them, and sends answers with the headers that all have.
//
// Threads: any; FlyingFox calls it for each request, in the order of a connection.

import FlyingFox
import FoundationEssentials

/// Answers the requests of browsers.
struct StudioHandler: HTTPHandler {
    let gate: StudioGate
    let answerer: any StudioAnswerer

    private static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        + "connect-src 'self'; font-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
    private static let apiPrefix = "/api/"

    func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
        var headerBytes = 0
        for (header, value) in request.headers {
            headerBytes += header.rawValue.utf8.count + value.utf8.count
        }
        let target = request.target.rawValue
        if headerBytes > StudioGate.mostHeaderBytes || target.utf8.count > StudioGate.longestTarget
        {
            return try await refusal(431, "The request is too long.", request)
        }
        switch gate.judge(Self.visitor(request)) {
        case .refused(let status, let words):
            return try await refusal(status, words, request)
        case .welcomed(let cookie):
            try await StudioBody.drain(request.bodySequence)
            var response = Self.response(303, type: nil, Data())
            response.headers[HTTPHeader("Set-Cookie")] = cookie
            response.headers[.location] = "/"
            return response
        case .admitted:
            return try await admit(request)
        }
    }

    // MARK: Those who may come in

    private func admit(_ request: HTTPRequest) async throws -> HTTPResponse {
        let path = request.target.path()
        guard path.hasPrefix(Self.apiPrefix) else {
            try await StudioBody.drain(request.bodySequence)
            guard request.method == .GET, let file = StudioPage.files[path] else {
                return Self.page(404, "There is no such page.")
            }
            return Self.response(200, type: file.type, file.bytes)
        }
        let body: StudioRequest.Body
        do {
            body = try await self.body(request, path)
        } catch is StudioBody.TooLarge {
            return Self.page(413, "That is too much at once.")
        }
        defer { if case .file(let path) = body { StudioBody.remove(path) } }
        let answer = await answerer.answer(
            StudioRequest(
                isPost: request.method == .POST,
                path: String(path.dropFirst(Self.apiPrefix.count)),
                parameters: Self.parameters(request.target.query()), body: body))
        var response = Self.response(answer.status, type: answer.type, answer.body)
        if let name = answer.fileName {
            response.headers[HTTPHeader("Content-Disposition")] =
                "attachment; filename*=UTF-8''\(Self.encoded(name))"
        }
        return response
    }

    private func body(_ request: HTTPRequest, _ path: String) async throws -> StudioRequest.Body {
        guard request.method == .POST else {
            try await StudioBody.drain(request.bodySequence)
            return .none
        }
        if path == StudioGate.filePath {
            return .file(try await StudioBody.file(request.bodySequence))
        }
        return .bytes(try await StudioBody.bytes(request.bodySequence))
    }

    // MARK: Requests

    private static func visitor(_ request: HTTPRequest) -> StudioGate.Visitor {
        let headers = request.headers
        var visitor = StudioGate.Visitor()
        visitor.isPost = request.method == .POST
        visitor.isOtherMethod = request.method != .POST && request.method != .GET
        visitor.path = request.target.path()
        visitor.token = parameters(request.target.query()).first { $0.name == "token" }?.value
        visitor.host = headers[.host]
        visitor.origin = headers[HTTPHeader("Origin")]
        visitor.fetchSite = headers[HTTPHeader("Sec-Fetch-Site")]
        visitor.cookies = headers[.cookie] ?? ""
        visitor.contentType = headers[.contentType]
        visitor.marker = headers[HTTPHeader(StudioGate.markerName)]
        return visitor
    }

    /// The parameters of a query, in their order.
    static func parameters(_ query: String) -> [(name: String, value: String)] {
        query.split(separator: "&").map { part in
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (decoded(pair[0]), pair.count > 1 ? decoded(pair[1]) : "")
        }
    }

    /// A text of a query. What is no UTF-8 is replaced, and a % that begins nothing stays.
    private static func decoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "+") {
                bytes.append(UInt8(ascii: " "))
            } else if byte == UInt8(ascii: "%"), let value = hexadecimal(rest.prefix(2)) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func hexadecimal(_ digits: ArraySlice<UInt8>) -> UInt8? {
        let values = digits.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        return values.count == 2 ? UInt8(values[0] << 4 | values[1]) : nil
    }

    /// A file name as a header can have it.
    private static func encoded(_ name: String) -> String {
        let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._".utf8)
        let digits = Array("0123456789ABCDEF")
        return name.utf8.reduce(into: "") { text, byte in
            if plain.contains(byte) {
                text.append(Character(UnicodeScalar(byte)))
            } else {
                text += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
            }
        }
    }

    // MARK: Responses

    private func refusal(_ status: Int, _ words: String, _ request: HTTPRequest) async throws
        -> HTTPResponse
    {
        // A refused body must not be taken for the next request.
        try await StudioBody.drain(request.bodySequence)
        return Self.page(status, words)
    }

    private static func page(_ status: Int, _ words: String) -> HTTPResponse {
        response(status, type: "text/html; charset=utf-8", StudioPage.saying(words))
    }

    private static func response(_ status: Int, type: String?, _ body: Data) -> HTTPResponse {
        var headers: HTTPHeaders = [
            HTTPHeader("X-Content-Type-Options"): "nosniff",
            HTTPHeader("Referrer-Policy"): "no-referrer",
            HTTPHeader("Cache-Control"): "no-store",
            HTTPHeader("Cross-Origin-Opener-Policy"): "same-origin",
            HTTPHeader("Cross-Origin-Resource-Policy"): "same-origin",
        ]
        headers[HTTPHeader("Content-Security-Policy")] = policy
        if let type { headers[.contentType] = type }
        return HTTPResponse(
            statusCode: HTTPStatusCode(status, phrase: phrases[status] ?? "Status"),
            headers: headers,
            body: HTTPBodySequence(data: body, suggestedBufferSize: 64 << 10))
    }

    private static let phrases = [
        200: "OK", 303: "See Other", 400: "Bad Request", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 409: "Conflict", 413: "Content Too Large",
        431: "Request Header Fields Too Large", 500: "Internal Server Error",
    ]
}
