// A server that imports a feed of products, and serves them as JSON.
//
//   swift run FeedServer STORE [PORT]
//
//   PUT /products                                  the feed, an array; answers with what it changed
//   GET /products?category=toys&below=10&limit=5   the cheapest first
//   GET /products/CODE                             one of them
//
// It says on standard output where it listens; Ctrl-C ends it.

import Cairn
import CairnInstruments
import Foundation
import Hummingbird
import Logging

extension Catalog.Item: ResponseEncodable {}
extension Catalog.Counts: ResponseEncodable {}

/// A feed may be larger than what Hummingbird takes by itself.
struct FeedContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    var maxUploadSize: Int { 64 << 20 }

    init(source: Source) { coreContext = .init(source: source) }
}

@main
struct FeedServer {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let path = arguments.first else {
            FileHandle.standardError.write(Data("usage: FeedServer STORE [PORT]\n".utf8))
            exit(2)
        }
        let container = try PersistentContainer(at: path, for: Product.self)
        // With LOG_LEVEL=debug the server says what it asks of its store.
        var logger = Logger(label: "FeedServer")
        let level = ProcessInfo.processInfo.environment["LOG_LEVEL"].flatMap(
            Logger.Level.init(rawValue:))
        logger.logLevel = level ?? .notice
        container.instruments = [LogInstrument(logger: logger)]

        let port = arguments.dropFirst().first.flatMap { Int($0) } ?? 8080
        let application = Application(
            router: router(Catalog(container: container)),
            configuration: .init(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { channel in
                print("http://127.0.0.1:\(channel.localAddress?.port ?? port)/products")
                fflush(nil)
            },
            logger: logger)
        try await application.runService()
    }

    private static func router(_ catalog: Catalog) -> Router<FeedContext> {
        let router = Router(context: FeedContext.self)
        router.put("products") { request, context in
            let feed = try await request.decode(as: [Catalog.Item].self, context: context)
            do {
                return try await catalog.replace(with: feed)
            } catch let error as StoreError {
                // The store says which row, which property and which value.
                throw HTTPError(.unprocessableContent, message: error.message)
            }
        }
        router.get("products") { request, _ in
            let parameters = request.uri.queryParameters
            return try await catalog.items(
                category: parameters.get("category"),
                below: parameters.get("below", as: Double.self),
                limit: parameters.get("limit", as: Int.self) ?? 100)
        }
        router.get("products/:code") { _, context in
            let code = try context.parameters.require("code")
            guard let item = try await catalog.item(code: code) else {
                throw HTTPError(.notFound, message: "there is no product \(code)")
            }
            return item
        }
        return router
    }
}
