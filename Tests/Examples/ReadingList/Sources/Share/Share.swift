// The extension: puts an article on the list while the app has it open.
//
//   swift run Share STORE ADDRESS TITLE

import Cairn
import ReadingList

@main
struct Share {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4 else {
            FileHandle.standardError.write(Data("usage: Share STORE ADDRESS TITLE\n".utf8))
            exit(2)
        }
        try await ReadingList.open(at: arguments[1]).performBackgroundTask { context in
            // An article that is on the list gets the new title; it does not appear twice.
            let article = context.insert(Article.self)
            article.address = arguments[2]
            article.title = arguments[3]
            article.added = Date()
            try context.save()
        }
    }
}
