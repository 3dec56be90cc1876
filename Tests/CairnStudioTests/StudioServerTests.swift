// The server as browsers and those who mean harm see it.

import CairnTestSupport
import Foundation
import Testing

@testable import CairnStudio

@Suite("The studio's server", .ahead)
struct StudioServerTests {
    @Test("Every answer has the headers that keep others out")
    func headers() async throws {
        try await withServer(EchoAnswerer()) { client, _, _ in
            var stranger = client
            stranger.cookie = nil
            for response in [
                try await client.send("GET", "/"), try await client.send("GET", "/nothing"),
                try await client.get("store"), try await stranger.send("GET", "/"),
                try await client.send("GET", "/scripts/frame/main.js"),
                try await client.send("DELETE", "/api/store"),
            ] {
                let headers = response.headers
                #expect(headers["x-content-type-options"] == "nosniff")
                #expect(headers["referrer-policy"] == "no-referrer")
                #expect(headers["cache-control"] == "no-store")
                #expect(headers["cross-origin-opener-policy"] == "same-origin")
                #expect(headers["cross-origin-resource-policy"] == "same-origin")
                let policy = try #require(headers["content-security-policy"])
                for rule in [
                    "default-src 'none'", "script-src 'self';", "style-src 'self';",
                    "frame-ancestors 'none'", "form-action 'none'", "base-uri 'none'",
                ] {
                    #expect(policy.contains(rule))
                }
                #expect(!policy.contains("unsafe"))
                #expect(!headers.keys.contains { $0.hasPrefix("access-control-") })
            }
        }
    }

    @Test("The page's files are those in the binary")
    func page() async throws {
        try await withServer(EchoAnswerer()) { client, _, _ in
            for (path, file) in StudioPage.files {
                let response = try await client.send("GET", path)
                #expect(response.status == 200)
                #expect(response.headers["content-type"] == file.type)
                #expect(response.body == file.bytes)
            }
            #expect(StudioPage.files["/"]?.type == "text/html; charset=utf-8")
        }
    }

    @Test(
        "No path leads out of the page",
        arguments: [
            "/../Package.swift", "/..%2f..%2fetc/passwd", "//etc/passwd", "/etc/passwd",
            "/%2e%2e/%2e%2e/etc/passwd", "/./", "/index.html", "/page/index.html", "/icon.svg/",
            "/icon.svg%00", "/ICON.SVG", "/api", "*", "http://127.0.0.1/",
        ])
    func traversal(path: String) async throws {
        try await withServer(EchoAnswerer()) { client, _, _ in
            let response = try await client.send("GET", path)
            #expect(response.status == 404, "\(path)")
        }
    }

    @Test("Other names, origins and sites are refused, and so is who was not let in")
    func strangers() async throws {
        try await withServer(EchoAnswerer()) { client, _, _ in
            let port = client.port
            let refused: [[String: String?]] = [
                ["Host": "evil.example:\(port)"], ["Host": nil], ["Host": "127.0.0.1"],
                ["Origin": "http://evil.example"], ["Origin": "null"],
                ["Origin": "https://127.0.0.1:\(port)"],
                ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"],
                ["Cookie": nil],
                ["Cookie": "cairn-studio-\(port)=" + String(repeating: "0", count: 64)],
                ["Cookie": "cairn-studio-\(port)="], ["Cookie": ""],
            ]
            for headers in refused {
                for path in ["/", "/api/store", "/scripts/frame/main.js"] {
                    let response = try await client.send("GET", path, headers)
                    #expect(response.status == 403, "\(headers) \(path)")
                    #expect(!response.text.contains("GET store"))
                }
                let post = try await client.send(
                    "POST", "/api/save", headers, body: Data("{}".utf8))
                #expect(post.status == 403)
            }
            let own = try await client.send(
                "GET", "/api/store",
                ["Origin": "http://127.0.0.1:\(port)", "Sec-Fetch-Site": "same-origin"])
            #expect(own.text == "GET store")
            let local = try await client.send("GET", "/api/store", ["Host": "localhost:\(port)"])
            #expect(local.text == "GET store")
        }
    }

    @Test("The first address lets one browser in, and the next one is announced")
    func tokens() async throws {
        try await withServer(EchoAnswerer()) { client, address, announced in
            let target = "/" + address.drop { $0 != "?" }
            var other = client
            other.cookie = nil
            #expect(try await other.send("GET", target).status == 403)
            // Who is in already is led to the page.
            #expect(try await client.send("GET", target).status == 303)
            let next = try #require(announced.all.first)
            #expect(announced.all.count == 1)
            let late = try await StudioClient.letIn(by: next)
            #expect(try await late.get("store").text == "GET store")
            #expect(try await client.get("store").text == "GET store")
            let guessed = "/?token=" + String(repeating: "0", count: 64)
            #expect(try await other.send("GET", guessed).status == 403)
        }
    }

    @Test("Changes come from a script of the page alone")
    func posts() async throws {
        try await withServer(EchoAnswerer()) { client, _, _ in
            let body = Data("{}".utf8)
            let refused: [[String: String?]] = [
                ["X-Cairn-Studio": nil], ["X-Cairn-Studio": "0"], ["Content-Type": nil],
                ["Content-Type": "text/plain"], ["Content-Type": "application/octet-stream"],
                ["Content-Type": "application/x-www-form-urlencoded"],
            ]
            for headers in refused {
                let response = try await client.send("POST", "/api/save", headers, body: body)
                #expect(response.status == 403, "\(headers)")
            }
            #expect(try await client.post("save").text == "POST save 2 bytes")
            #expect(
                try await client.importList("a,b\n", ["entity": "Ä & Ö=%"]).text
                    == "POST import [entity=Ä & Ö=%] a file of 4")
            for method in ["PUT", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE"] {
                #expect(try await client.send(method, "/api/store").status == 405, "\(method)")
            }
        }
    }

    @Test("What is too long is refused, and the server goes on")
    func sizes() async throws {
        try await withServer(EchoAnswerer()) { client, _, _ in
            let long = String(repeating: "x", count: StudioGate.longestTarget)
            let target = try await client.send("GET", "/api/store?a=\(long)")
            #expect(target.status == 431)
            var many: [String: String?] = [:]
            for number in 0..<1000 { many["X-\(number)"] = "0123456789ABCDEF" }
            #expect(try await client.send("GET", "/api/store", many).status == 431)
            let huge = Data(count: StudioBody.mostJSON + 1)
            #expect(try await client.send("POST", "/api/save", body: huge).status == 413)
            #expect(
                try await client.send("POST", "/api/save", body: huge.dropLast(1)).text
                    == "POST save \(huge.count - 1) bytes")
            #expect(try await client.get("store").text == "GET store")
        }
    }

    @Test("The body of a request that is refused is not taken for another request")
    func smuggling() async throws {
        try await withServer(EchoAnswerer()) { client, _, _ in
            let hidden =
                "GET /api/hidden HTTP/1.1\r\nHost: 127.0.0.1:\(client.port)\r\n"
                + "Cookie: \(client.cookie ?? "")\r\n\r\n"
            let padding = String(repeating: " ", count: 3 << 20)
            for body in [hidden, padding + hidden] {
                let chunk = String(body.utf8.count, radix: 16)
                for framing in [
                    "Content-Length: \(body.utf8.count)\r\n\r\n\(body)",
                    "Transfer-Encoding: chunked\r\n\r\n\(chunk)\r\n\(body)\r\n0\r\n\r\n",
                ] {
                    let first =
                        "POST /api/save HTTP/1.1\r\nHost: 127.0.0.1:\(client.port)\r\n"
                        + "Origin: http://evil.example\r\n\(framing)"
                    let second =
                        "GET /api/last HTTP/1.1\r\nHost: 127.0.0.1:\(client.port)\r\n"
                        + "Cookie: \(client.cookie ?? "")\r\nConnection: close\r\n\r\n"
                    let answer = try await client.exchange(Data((first + second).utf8))
                    let refusal = try #require(StudioResponse(answer))
                    #expect(refusal.status == 403)
                    let last = try #require(StudioResponse(refusal.rest))
                    #expect(last.text == "GET last")
                    #expect(last.rest.isEmpty)
                }
            }
        }
    }

    @Test("What is no HTTP ends the connection alone")
    func nonsense() async throws {
        try await withServer(EchoAnswerer()) { client, _, _ in
            for bytes in [
                "\r\n\r\n", "GET\r\n\r\n", "\u{0}\u{1}\u{2}\r\n\r\n", "GET / HTTP/1.1\r\n:\r\n\r\n",
                "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
                "GET / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
                "GET / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n",
                "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n",
                "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            ] {
                let rest = "GET / HTTP/1.1\r\nConnection: close\r\n\r\n"
                let answer = try await client.exchange(Data((bytes + rest).utf8))
                if let response = StudioResponse(answer) {
                    #expect(response.status >= 400, "\(bytes)")
                }
            }
            #expect(try await client.get("store").text == "GET store")
        }
    }

    @Test("A port that is taken is told")
    func takenPort() async throws {
        try await withServer(EchoAnswerer()) { client, _, _ in
            await #expect(throws: StudioServer.PortTaken.self) {
                try await withServer(EchoAnswerer(), port: client.port) { _, _, _ in }
            }
        }
    }

    @Test("Parameters are read as a browser writes them")
    func parameters() {
        let read = StudioHandler.parameters("a=1&b=%C3%A4+%2B&a=&c&=x&d=%+f%zz%4")
        #expect(
            read.map { "\($0.name)=\($0.value)" } == [
                "a=1", "b=ä +", "a=", "c=", "=x", "d=% f%zz%4",
            ])
    }
}
