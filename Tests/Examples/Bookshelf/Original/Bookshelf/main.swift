import CoreData

let arguments = CommandLine.arguments.dropFirst()
guard let path = arguments.first else {
    print("usage: Bookshelf STORE [WORDS]")
    exit(2)
}
let library = try Library(at: URL(fileURLWithPath: path))

try library.add(
    isbn: "978-0", title: "The Voyage of the Beagle", pages: 544, by: "Charles Darwin")
try library.add(isbn: "978-1", title: "Persuasion", pages: 249, by: "Jane Austen")
try library.add(isbn: "978-2", title: "Emma", pages: 474, by: "Jane Austen")
let count = try library.takeOver([
    ["isbn": "978-1", "title": "Persuasion", "pages": 250],
    ["isbn": "978-3", "title": "Walden", "pages": 352],
])
print("taken over: \(count)")

for book in try library.books(containing: arguments.dropFirst().first ?? "") {
    print("\(book.title), \(book.pages) pages, \(book.author?.name ?? "by nobody")")
}
for (name, pages) in try library.pagesByAuthor() { print("\(name): \(pages)") }

try library.remove(author: "Jane Austen")
print("left: \(try library.books(containing: "").map(\.title).joined(separator: ", "))")
print("history: \(try library.changes().joined(separator: ", "))")
