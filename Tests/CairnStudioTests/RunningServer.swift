// A server for a test, ended with it.

import CairnTestSupport
import Foundation

@testable import CairnStudio

/// Runs a body beside a server, and ends that.
///
/// - Parameter body: gets a client that was let in, and the addresses that were announced later.
@discardableResult
func withServer<Result: Sendable>(
    _ answerer: any StudioAnswerer, port: UInt16 = 0,
    _ body: (StudioClient, String, Announced) async throws -> Result
) async throws -> Result {
    let server = StudioServer(port: port, answerer: answerer)
    let announced = Announced()
    let (addresses, told) = AsyncStream<String>.makeStream()
    let task = Task {
        defer { told.finish() }
        try await server.run(
            started: { told.yield($0) }, announce: { announced.add($0) })
    }
    do {
        let address = await inTime(for: "a server to listen") {
            var first: String?
            for await address in addresses {
                first = address
                break
            }
            return first
        }
        guard let address else {
            try await task.value
            throw CancellationError()
        }
        let client = try await StudioClient.letIn(by: address)
        let result = try await inTime(for: "a test of a server") {
            try await body(client, address, announced)
        }
        task.cancel()
        _ = await task.result
        return result
    } catch {
        task.cancel()
        _ = await task.result
        throw error
    }
}

/// Says what it was asked.
struct EchoAnswerer: StudioAnswerer {
    func answer(_ request: StudioRequest) async -> StudioAnswer {
        var text = "\(request.isPost ? "POST" : "GET") \(request.path)"
        for (name, value) in request.parameters { text += " [\(name)=\(value)]" }
        switch request.body {
        case .none: break
        case .bytes(let data): text += " \(data.count) bytes"
        case .file(let path):
            let size = (try? Data(contentsOf: URL(fileURLWithPath: path)).count) ?? -1
            text += " a file of \(size)"
        }
        return StudioAnswer(type: "text/plain; charset=utf-8", body: Data(text.utf8))
    }
}
