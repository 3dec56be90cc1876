// The app: shows the list, and again whenever the extension has put something on it.
//
//   swift run Reader STORE [COUNT]     ends when the list has COUNT articles

import Cairn
import ReadingList

@main
struct Reader {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 2 else {
            FileHandle.standardError.write(Data("usage: Reader STORE [COUNT]\n".utf8))
            exit(2)
        }
        let end = arguments.count > 2 ? Int(arguments[2]) : nil
        let container = try ReadingList.open(at: arguments[1])
        let context = container.newBackgroundContext()
        let lists = try await context.perform { context in
            context.automaticallyMergesChangesFromParent = true
            return try context.results(
                of: FetchRequest<Article>(sortBy: [SortKey(\Article.added)]))
        }
        for try await list in lists {
            let titles = try await context.perform { context in
                try context.fetch(FetchRequest<Article>(sortBy: [SortKey(\Article.added)]))
                    .map(\.title)
            }
            print("\(list.numberOfItems) to read: \(titles.joined(separator: ", "))")
            fflush(nil)
            if list.numberOfItems == end { break }
        }
    }
}
