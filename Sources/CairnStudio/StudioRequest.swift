// What a browser asks of the answerer, and what it gets.

package import FoundationEssentials

/// A request that has passed all rules of security.
package struct StudioRequest: Sendable {
    /// Where the bytes are that came with it.
    package enum Body: Sendable {
        case none
        /// JSON.
        case bytes(Data)
        /// The path of a file that lies there until the answer is given.
        case file(String)
    }

    /// Whether it may change something: a POST.
    package let isPost: Bool
    /// The part of the path behind `/api/`.
    package let path: String
    /// The parameters in their order.
    package let parameters: [(name: String, value: String)]
    package let body: Body

    package init(
        isPost: Bool, path: String, parameters: [(name: String, value: String)], body: Body
    ) {
        self.isPost = isPost
        self.path = path
        self.parameters = parameters
        self.body = body
    }
}

/// What is sent back.
package struct StudioAnswer: Sendable {
    /// The status of HTTP.
    package var status: Int
    /// The value of the Content-Type header.
    package var type: String
    package var body: Data
    /// The name under which a browser saves the body; nil: it shows it.
    package var fileName: String?

    package init(status: Int = 200, type: String, body: Data, fileName: String? = nil) {
        self.status = status
        self.type = type
        self.body = body
        self.fileName = fileName
    }

    /// One JSON value.
    package static let json = "application/json"
    /// A JSON value on each line.
    package static let jsonLines = "application/x-ndjson"
}

/// Answers what is behind `/api/`.
package protocol StudioAnswerer: Sendable {
    /// Answers a request. It is called for several at once, and goes on to its end when the browser has gone away.
    func answer(_ request: StudioRequest) async -> StudioAnswer
}
