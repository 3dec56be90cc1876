// The rules that every request has to pass, without a server.

import Testing

@testable import CairnStudio

struct StudioGateTests {
    private let gate = StudioGate(port: 4711) { _ in }

    /// Somebody who has been let in.
    private func known() -> StudioGate.Visitor {
        var visitor = StudioGate.Visitor()
        visitor.host = "127.0.0.1:4711"
        visitor.token = String(gate.makeAddress().split(separator: "=")[1])
        guard case .welcomed(let cookie) = gate.judge(visitor) else { return visitor }
        visitor.token = nil
        visitor.cookies = "other=1; " + cookie.prefix { $0 != ";" }
        return visitor
    }

    private func isRefused(_ visitor: StudioGate.Visitor, with status: Int = 403) -> Bool {
        guard case .refused(status, _) = gate.judge(visitor) else { return false }
        return true
    }

    @Test func letsInWhoHasTheCookie() {
        #expect(gate.judge(known()) == .admitted)
        var stranger = known()
        stranger.cookies = "cairn-studio-4711=" + String(repeating: "0", count: 64)
        #expect(isRefused(stranger))
        stranger.cookies = ""
        #expect(isRefused(stranger))
    }

    @Test(arguments: ["localhost:4711", "127.0.0.1:4711", "LOCALHOST:4711"])
    func answersToItsNames(host: String) {
        var visitor = known()
        visitor.host = host
        #expect(gate.judge(visitor) == .admitted)
        visitor.origin = "http://\(host)"
        #expect(gate.judge(visitor) == .admitted)
    }

    @Test(arguments: [
        "localhost", "127.0.0.1", "127.0.0.1:4712", "evil.example:4711", "evil.example", "",
        "127.0.0.1:4711.evil.example", "127.0.0.1:47110",
    ])
    func answersToNoOtherName(host: String) {
        var visitor = known()
        visitor.host = host
        #expect(isRefused(visitor))
        visitor.host = nil
        #expect(isRefused(visitor))
    }

    @Test(arguments: [
        "http://evil.example", "https://127.0.0.1:4711", "http://127.0.0.1:4712", "null",
        "http://localhost:4711", "http://127.0.0.1:4711/",
    ])
    func refusesOtherOrigins(origin: String) {
        var visitor = known()
        visitor.origin = origin
        #expect(isRefused(visitor))
    }

    @Test func refusesWhatBrowsersCallCrossSite() {
        var visitor = known()
        for site in ["cross-site", "same-site", ""] {
            visitor.fetchSite = site
            #expect(isRefused(visitor))
        }
        for site in ["same-origin", "none"] {
            visitor.fetchSite = site
            #expect(gate.judge(visitor) == .admitted)
        }
    }

    @Test func aTokenLetsOneBrowserIn() throws {
        let announced = Announced()
        let gate = StudioGate(port: 4711) { announced.add($0) }
        var visitor = StudioGate.Visitor()
        visitor.host = "127.0.0.1:4711"
        visitor.token = "guessed"
        #expect(gate.judge(visitor) != .admitted)
        visitor.token = String(gate.makeAddress().split(separator: "=")[1])
        guard case .welcomed(let cookie) = gate.judge(visitor) else {
            Issue.record("the token lets nobody in")
            return
        }
        for part in ["HttpOnly", "SameSite=Strict", "Path=/"] { #expect(cookie.contains(part)) }
        #expect(announced.all.isEmpty)
        // A second browser is told to look at the terminal, where one more address stands, however often it asks.
        for _ in 0..<3 {
            guard case .refused(403, _) = gate.judge(visitor) else {
                Issue.record("a token was taken twice")
                return
            }
        }
        let address = try #require(announced.all.first)
        #expect(announced.all.count == 1)
        var other = visitor
        other.token = String(address.split(separator: "=")[1])
        #expect(gate.judge(other) == .welcomed(cookie: cookie))
        // Who is in already is only led on.
        visitor.cookies = String(cookie.prefix { $0 != ";" })
        #expect(gate.judge(visitor) == .welcomed(cookie: cookie))
    }

    @Test func aTokenIsForTheFirstPageAlone() {
        var visitor = StudioGate.Visitor()
        visitor.host = "127.0.0.1:4711"
        visitor.token = String(gate.makeAddress().split(separator: "=")[1])
        visitor.path = "/api/store"
        #expect(isRefused(visitor))
        visitor.path = "/"
        visitor.isPost = true
        #expect(isRefused(visitor))
    }

    @Test func knowsTwoMethods() {
        var visitor = known()
        visitor.isOtherMethod = true
        #expect(isRefused(visitor, with: 405))
    }

    @Test func postsAreJSONWithAHeader() {
        var visitor = known()
        visitor.isPost = true
        visitor.path = "/api/save"
        visitor.contentType = "application/json; charset=utf-8"
        #expect(isRefused(visitor))
        visitor.marker = "1"
        #expect(gate.judge(visitor) == .admitted)
        for type in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", nil]
        {
            visitor.contentType = type
            #expect(isRefused(visitor))
        }
        visitor.path = "/api/import"
        visitor.contentType = "application/octet-stream"
        #expect(gate.judge(visitor) == .admitted)
        visitor.contentType = "application/json"
        #expect(isRefused(visitor))
    }
}
