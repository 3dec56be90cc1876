// The store that the app and its extension share. Each opens it as if it were alone: they write in turns, and each hears of
// what the other has committed.

public import Cairn

/// The reading list.
public enum ReadingList {
    /// Opens the list, or makes it.
    public static func open(at path: String) throws -> PersistentContainer {
        var options = LogStoreOptions()
        options.timeout = 30  // The app may be in the middle of a large import.
        return try PersistentContainer(
            at: path, for: Article.self, options: options,
            mergePolicy: .mergeByPropertyObjectTrump)
    }
}
