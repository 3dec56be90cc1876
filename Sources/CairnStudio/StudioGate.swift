// Who may come in.
//
//   1. The request has to be for this server by its name (Host): a page that has its own name lead here, by DNS
//      rebinding, still sends its name.
//   2. It has to come from a page of this server, or from nowhere (Origin, Sec-Fetch-Site).
//   3. It has to bring the cookie. That is given for the token of the first address, once: the address lies in
//      the history of the browser, and others on the machine can see it in the list of processes.
//   4. What is sent has to be what only a script of this server's page can send: JSON or a file, with a header of its
//      own. A form of another page can send neither.
//
// Threads: any.

import Synchronization

/// The rules that every request has to pass.
final class StudioGate: Sendable {
    /// What becomes of a request.
    enum Verdict: Equatable {
        /// It is answered.
        case admitted
        /// It gets the cookie and is led to the page.
        case welcomed(cookie: String)
        /// It is refused: the status, and why.
        case refused(Int, String)
    }

    /// What the rules look at.
    struct Visitor {
        var isPost = false
        /// Whether it is neither GET nor POST.
        var isOtherMethod = false
        var path = "/"
        /// The parameter `token`.
        var token: String?
        var host: String?
        var origin: String?
        var fetchSite: String?
        var cookies = ""
        var contentType: String?
        var marker: String?
    }

    private struct Tokens {
        var fresh: StudioSecret?
        var spent: [StudioSecret] = []
    }

    /// The longest target that is looked at, and the most bytes of headers.
    static let longestTarget = 8 << 10
    static let mostHeaderBytes = 16 << 10
    /// The header that only a script can set.
    static let markerName = "X-Cairn-Studio"
    /// Where files are sent to.
    static let filePath = "/api/import"

    private let port: UInt16
    private let cookie = StudioSecret()
    private let tokens = Mutex(Tokens())
    /// Called with another address when one is used a second time.
    private let announce: @Sendable (String) -> Void

    init(port: UInt16, announce: @escaping @Sendable (String) -> Void) {
        self.port = port
        self.announce = announce
    }

    private var cookieName: String { "cairn-studio-\(port)" }

    /// An address that lets one browser in.
    func makeAddress() -> String {
        let token = StudioSecret()
        tokens.withLock { $0.fresh = token }
        return "http://127.0.0.1:\(port)/?token=\(token.text)"
    }

    func judge(_ visitor: Visitor) -> Verdict {
        let hosts = ["127.0.0.1:\(port)", "localhost:\(port)"]
        guard let host = visitor.host?.lowercased(), hosts.contains(host) else {
            return .refused(403, "This address is not the studio's.")
        }
        if let origin = visitor.origin, origin.lowercased() != "http://\(host)" {
            return .refused(403, "Another page may not ask the studio.")
        }
        if let site = visitor.fetchSite, site != "same-origin", site != "none" {
            return .refused(403, "Another page may not ask the studio.")
        }
        if visitor.isOtherMethod { return .refused(405, "The studio knows GET and POST.") }
        let isKnown = hasCookie(visitor.cookies)
        if let token = visitor.token, !visitor.isPost, visitor.path == "/" {
            if isKnown || spend(token) { return .welcomed(cookie: setCookie) }
            return .refused(
                403,
                "This address has let a browser in already, or is an old one. Look at the terminal that the studio "
                    + "was started in: another address may stand there.")
        }
        guard isKnown else {
            return .refused(
                403,
                "This browser has not been let in. Open the address that the studio has printed in its terminal."
            )
        }
        return visitor.isPost ? judgePost(visitor) : .admitted
    }

    private func judgePost(_ visitor: Visitor) -> Verdict {
        let type = visitor.contentType?.split(separator: ";").first?
            .filter { $0 != " " }.lowercased()
        let wanted =
            visitor.path == Self.filePath ? "application/octet-stream" : "application/json"
        guard type == wanted else {
            return .refused(403, "A POST here is of the type \(wanted).")
        }
        guard visitor.marker == "1" else {
            return .refused(403, "A POST has the header \(Self.markerName): 1.")
        }
        return .admitted
    }

    private var setCookie: String {
        "\(cookieName)=\(cookie.text); HttpOnly; SameSite=Strict; Path=/"
    }

    private func hasCookie(_ cookies: String) -> Bool {
        cookies.split(separator: ";").contains { part in
            let pair = part.drop { $0 == " " }.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return pair.count == 2 && pair[0] == cookieName && cookie.matches(pair[1])
        }
    }

    /// Whether a token lets somebody in. One that has done so already has another address announced: whoever sees the
    /// terminal may come in.
    private func spend(_ token: String) -> Bool {
        let (isGood, isSpent) = tokens.withLock { tokens in
            if let fresh = tokens.fresh, fresh.matches(token) {
                tokens.spent.append(fresh)
                tokens.fresh = nil
                return (true, false)
            }
            // While an address waits to be used, no other is announced.
            return (false, tokens.fresh == nil && tokens.spent.contains { $0.matches(token) })
        }
        if isSpent { announce(makeAddress()) }
        return isGood
    }
}
