// Where a store of Core Data's is kept by Cairn: in memory, or in a folder at its URL.
//
// Code that comes over has a URL such as Notes.sqlite: the path stays, and a folder is there. The companions of an SQLite file, -wal
// and -shm, are never there.
//
// Threads: values.

import CairnStore
import Foundation

/// Where a store is kept.
enum StorePlace: Equatable {
    /// In memory. Those with a name share what is in it.
    case memory(name: String?)
    /// In a folder.
    case folder(String)

    /// - Throws: `StoreError` if there is no such kind of stores, or the URL is none of a file.
    init(type: String, url: URL?) throws(StoreError) {
        switch type {
        case NSInMemoryStoreType:
            self = .memory(name: nil)
            return
        case NSSQLiteStoreType, NSBinaryStoreType, NSXMLStoreType: break
        default:
            throw StoreError(
                .init(rawValue: NSPersistentStoreInvalidTypeError),
                "there are no stores of the type \(type): there are \(NSSQLiteStoreType), \(NSBinaryStoreType), \(NSXMLStoreType) and \(NSInMemoryStoreType)"
            )
        }
        guard let url, url.isFileURL else {
            throw StoreError(
                .openFailed,
                url == nil
                    ? "a store on disk needs a URL" : "a store has the URL of a file, not \(url!)")
        }
        let path = url.path
        if path == Self.null {
            self = .memory(name: nil)
        } else if path.hasPrefix(Self.null + "/") {
            self = .memory(name: String(path.dropFirst(Self.null.count + 1)))
        } else {
            self = .folder(path)
        }
    }

    /// What Core Data's users call a store that is nowhere.
    private static let null = "/dev/null"

    /// The folder of a store on disk, which an operation is about.
    ///
    /// - Throws: `StoreError` if it is in memory.
    func path(toDo action: String) throws(StoreError) -> String {
        guard case .folder(let path) = self else {
            throw StoreError(
                .invalidRequest,
                "a store in memory cannot be \(action): it is gone when it is removed")
        }
        return path
    }

    /// A file where the folder of a store is to be is mostly a store of Core Data's own.
    ///
    /// - Throws: `StoreError` that says what the file is, and what to do.
    static func refuseFile(at path: String) throws(StoreError) {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        guard attributes?[.type] as? FileAttributeType == .typeRegular else { return }
        let file = FileHandle(forReadingAtPath: path)
        let start = (try? file?.read(upToCount: sqlite.count)) ?? Data()
        throw StoreError(
            .init(rawValue: NSPersistentStoreTypeMismatchError),
            start == sqlite
                ? "this is an SQLite database, such as a store of Core Data: bring it over with cairn import-coredata \(path) FOLDER, and open the folder"
                : "there is a file, and a store is a folder", context: .init(path: path))
    }

    private static let sqlite = Data("SQLite format 3\0".utf8)
}
