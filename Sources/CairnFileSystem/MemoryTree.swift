// The names of an in-memory disk. Pure values: the file system's lock guards them.
//
// A path is resolved one component at a time, as the system does, so that "a/../b" fails if "a" does not
// exist. A path resolves to a `Place`: its folder, its name there and the entry with that name. Names are
// bytes, as of a file system: strings that look the same would be equal. In a debug build, tests that open many
// stores would spend a third of their time on the components of a `FilePath`.

internal import SystemPackage

struct MemoryTree: Sendable {
    enum Entry: Sendable {
        case folder(UInt64)
        case file(MemoryContent)
    }

    struct Place {
        let folder: UInt64
        /// Nil if the path ends in "/", "." or "..": then it refers to `folder` itself.
        let name: [UInt8]?
        let entry: Entry?
    }

    private static let root: UInt64 = 1
    /// The limit of the systems for a name, in bytes.
    private static let longestName = 255
    private static let longestPath = 4095
    private static let current = Array(".".utf8)
    private static let parent = Array("..".utf8)

    private var folders: [UInt64: [[UInt8]: Entry]] = [root: [:]]
    private var parents: [UInt64: UInt64] = [root: root]
    private var lastNumber = root

    private mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    // MARK: Paths

    private func place(_ path: FilePath) throws(Errno) -> Place {
        if path.isEmpty { throw .noSuchFileOrDirectory }
        if path.length > Self.longestPath { throw .fileNameTooLong }
        var folder = Self.root
        var name: [UInt8]?
        var entry: Entry?
        for component in path.string.utf8.split(separator: UInt8(ascii: "/")) {
            let component = Array(component)
            if name != nil {
                // The component before must be a folder.
                switch entry {
                case .folder(let number): folder = number
                case .file: throw .notDirectory
                case nil: throw .noSuchFileOrDirectory
                }
                name = nil
                entry = nil
            }
            switch component {
            case Self.current: break
            case Self.parent: folder = parents[folder] ?? Self.root
            default:
                if component.count > Self.longestName { throw .fileNameTooLong }
                name = component
                entry = folders[folder]?[component]
            }
        }
        return Place(folder: folder, name: name, entry: entry)
    }

    /// Returns the number of the folder at a path.
    func folder(_ path: FilePath) throws(Errno) -> UInt64 {
        let place = try place(path)
        if place.name == nil { return place.folder }
        switch place.entry {
        case .folder(let number): return number
        case .file: throw .notDirectory
        case nil: throw .noSuchFileOrDirectory
        }
    }

    /// Returns the number of the file or folder at a path.
    func inode(_ path: FilePath) throws(Errno) -> UInt64 {
        let place = try place(path)
        if place.name == nil { return place.folder }
        switch place.entry {
        case .folder(let number): return number
        case .file(let content): return content.identity.inode
        case nil: throw .noSuchFileOrDirectory
        }
    }

    // MARK: Calls

    /// Returns the file, and a number for this open file.
    mutating func open(
        _ path: FilePath, _ mode: OpenMode, on device: UInt64
    ) throws(Errno) -> (MemoryContent, UInt64) {
        let place = try place(path)
        guard let name = place.name else {
            throw mode == .create ? .fileExists : .isDirectory
        }
        switch place.entry {
        case .folder:
            throw mode == .create ? .fileExists : .isDirectory
        case .file(let content):
            if mode == .create { throw .fileExists }
            return (content, nextNumber())
        case nil:
            guard mode == .create || mode == .createOrOpen else { throw .noSuchFileOrDirectory }
            let content = MemoryContent(FileIdentity(device: device, inode: nextNumber()))
            folders[place.folder]?[name] = .file(content)
            return (content, nextNumber())
        }
    }

    func list(_ path: FilePath) throws(Errno) -> [String] {
        sortedByBytes(
            (folders[try folder(path)] ?? [:]).keys.map { String(decoding: $0, as: UTF8.self) })
    }

    mutating func unlink(_ path: FilePath) throws(Errno) {
        let place = try place(path)
        guard let name = place.name else { throw .isDirectory }
        switch place.entry {
        case .folder: throw .isDirectory
        case .file: folders[place.folder]?[name] = nil
        case nil: throw .noSuchFileOrDirectory
        }
    }

    mutating func makeFolder(_ path: FilePath) throws(Errno) {
        let place = try place(path)
        guard let name = place.name, place.entry == nil else { throw .fileExists }
        let number = nextNumber()
        folders[place.folder]?[name] = .folder(number)
        folders[number] = [:]
        parents[number] = place.folder
    }

    mutating func removeFolder(_ path: FilePath) throws(Errno) {
        let place = try place(path)
        guard let name = place.name else {
            switch path.lastComponent?.kind {
            case .currentDirectory: throw .invalidArgument
            case .parentDirectory: throw .directoryNotEmpty
            default: throw .resourceBusy
            }
        }
        switch place.entry {
        case .folder(let number):
            if folders[number]?.isEmpty == false { throw .directoryNotEmpty }
            folders[place.folder]?[name] = nil
            folders[number] = nil
            parents[number] = nil
        case .file: throw .notDirectory
        case nil: throw .noSuchFileOrDirectory
        }
    }
}
