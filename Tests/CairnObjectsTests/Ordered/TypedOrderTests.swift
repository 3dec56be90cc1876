// `[T]`: a relationship that is an array, changed in place like one. A tree of bookmarks.

import Cairn
import CairnObjects
import StoreBackends
import Testing

@Entity("Mark")
final class Bookmark: ManagedObject {
    var title: String = ""
    var folder: BookmarkFolder?
}

@Entity("MarkFolder")
final class BookmarkFolder: ManagedObject {
    var title: String = ""
    var parent: BookmarkFolder?
    @Relationship(deleteRule: .cascade, inverse: \BookmarkFolder.parent)
    var folders: [BookmarkFolder] = []
    @Relationship(deleteRule: .cascade, inverse: \Bookmark.folder) var marks: [Bookmark] = []
}

@Suite("Arrays of related objects")
struct TypedOrderTests {
    private static let types: [any PersistentEntity.Type] = [BookmarkFolder.self, Bookmark.self]

    private func stack(_ backend: Backend) throws -> Stack {
        Stack(
            store: try backend.makeStore(Schema(ManagedObjectModel(for: Self.types))),
            classes: ObjectClasses(for: Self.types))
    }

    private func mark(_ title: String, _ context: ManagedObjectContext) -> Bookmark {
        let mark = Bookmark(context: context)
        mark.title = title
        return mark
    }

    @Test("Arrays are changed in place, and stand so in the store", arguments: Backend.allCases)
    func inPlace(_ backend: Backend) throws {
        let stack = try stack(backend)
        let context = stack.context()
        let folder = BookmarkFolder(context: context)
        let (a, b, c) = (mark("a", context), mark("b", context), mark("c", context))
        folder.marks.append(b)
        folder.marks.append(c)
        folder.marks.insert(a, at: 0)
        #expect(folder.marks == [a, b, c] && a.folder === folder)
        try context.save()
        folder.marks.swapAt(0, 2)
        folder.marks.removeAll { $0.title == "b" }
        #expect(b.folder == nil)
        folder.marks[1] = mark("d", context)
        #expect(a.folder == nil && folder.marks.map(\.title) == ["c", "d"])
        folder.marks.sort { $0.title > $1.title }
        folder.marks += [a]
        try context.save()
        let other = try #require(
            stack.context().object(with: folder.objectID) as? BookmarkFolder)
        #expect(other.marks.map(\.title) == ["d", "c", "a"])
        other.marks.reverse()
        try other.managedObjectContext?.save()
        context.refresh(folder, mergeChanges: false)
        #expect(folder.marks.map(\.title) == ["a", "c", "d"])
    }

    @Test("A tree of folders keeps the order of every level", arguments: Backend.allCases)
    func tree(_ backend: Backend) throws {
        let stack = try stack(backend)
        let context = stack.context()
        func folder(_ title: String, in parent: BookmarkFolder?) -> BookmarkFolder {
            let folder = BookmarkFolder(context: context)
            folder.title = title
            folder.parent = parent
            return folder
        }
        func outline(_ folder: BookmarkFolder) -> String {
            let parts = folder.folders.map { outline($0) } + folder.marks.map(\.title)
            return folder.title + "(" + parts.joined(separator: " ") + ")"
        }
        func stored(_ folder: BookmarkFolder) throws -> String {
            outline(
                try #require(stack.context().object(with: folder.objectID) as? BookmarkFolder))
        }
        let root = folder("root", in: nil)
        let (news, code) = (folder("news", in: root), folder("code", in: root))
        let swift = folder("swift", in: code)
        for title in "xyz" { news.marks.append(mark(String(title), context)) }
        swift.marks = [mark("q", context), mark("p", context)]
        try context.save()
        #expect(try stored(root) == "root(news(x y z) code(swift(q p)))")
        // A folder moves up, another before it, and a mark goes elsewhere.
        root.folders.insert(swift, at: 0)
        root.folders.swapAt(1, 2)
        swift.marks.insert(news.marks[1], at: 1)
        try context.save()
        #expect(outline(root) == "root(swift(q y p) code() news(x z))")
        #expect(try stored(root) == outline(root))
        context.delete(code)
        context.delete(news.marks[0])
        try context.save()
        #expect(try stored(root) == "root(swift(q y p) news(z))")
    }
}
