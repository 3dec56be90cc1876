// The versions of a model in a folder, and the current one.
//
//   1. A folder with `contents` is one version; a folder of such folders is a versioned model; anything
//      else must be the XML itself.
//   2. The current version is the one that `.xccurrentversion` names. Without that file it is the only
//      one, or, if there are several, the one whose name has no number; then a warning says so.

public import FoundationEssentials

/// The versions of a model on disk.
public struct ModelVersions: Sendable {
    /// The folder or file.
    public let path: String
    /// The names of all versions. Numbers are in numerical order.
    public let names: [String]
    /// The name of the current version.
    public let currentName: String
    /// What is unusual in the folder.
    public let warnings: [ModelWarning]
    /// The XML file of every version.
    private let files: [String: String]

    /// The most bytes that a model file or a list of versions may have.
    private static let sizeLimit = 64 << 20

    /// Reads the list of versions of a `.xcdatamodeld` folder, a `.xcdatamodel` folder, or the XML file itself.
    ///
    /// - Throws: `ModelError` if there is no model, or no current version.
    public init(contentsOfFile path: String) throws(ModelError) {
        try self.init(contentsOfFile: path, choosing: nil)
    }

    /// The same for somebody who wants a certain version: which one the folder calls the current one does not matter then.
    ///
    /// - Parameter version: the name; nil: the current version.
    package init(contentsOfFile path: String, choosing version: String?) throws(ModelError) {
        self.path = path
        guard let isFolder = Self.isFolder(path) else {
            throw ModelError(.unreadable, "there is no such file or folder", file: path)
        }
        guard isFolder else {
            // A file named `contents` bears the name of its folder.
            let own = Self.name(of: path)
            let folder = Self.name(of: Self.folder(of: path))
            let name = own == "contents" && !folder.isEmpty ? folder : own
            (names, currentName, files, warnings) = ([name], name, [name: path], [])
            return
        }
        let inside = try Self.list(path)
        if inside.contains("contents") {
            let name = Self.name(of: path)
            (names, currentName, warnings) = ([name], name, [])
            files = [name: "\(path)/contents"]
            return
        }
        let folders = inside.filter { $0.hasSuffix(".xcdatamodel") }
        guard !folders.isEmpty else {
            throw ModelError(
                .unreadable,
                inside.contains("elements")
                    ? "it contains a binary model from Xcode 3: save it with a newer Xcode"
                    : "the folder contains no model", file: path)
        }
        names = folders.map(Self.name(of:)).sorted(by: Self.comesBefore)
        files = Dictionary(
            folders.map { (Self.name(of: $0), "\(path)/\($0)/contents") }, uniquingKeysWith: { $1 })
        if let version {
            // Whether there is one says whoever reads it.
            (currentName, warnings) = (version, [])
        } else {
            (currentName, warnings) = try Self.current(of: names, in: path, inside: inside)
        }
    }

    /// Reads the list of versions of a `.xcdatamodeld` folder, a `.xcdatamodel` folder, or the XML file itself.
    ///
    /// - Throws: `ModelError` if there is no model, or no current version.
    public init(contentsOf url: URL) throws(ModelError) {
        try self.init(contentsOfFile: url.path(percentEncoded: false))
    }

    /// Reads and checks the version with that name.
    ///
    /// - Throws: `ModelError` with the file, and the line if there is one.
    public func read(_ name: String) throws(ModelError) -> ModelFile {
        guard let file = files[name] else {
            throw ModelError(
                .unknownName,
                "there is no version \(name); the versions are \(names.joined(separator: ", "))",
                file: path)
        }
        if Self.isFolder(file) == nil, Self.isFolder("\(Self.folder(of: file))/elements") != nil {
            throw ModelError(
                .unreadable, "it contains a binary model from Xcode 3: save it with a newer Xcode",
                file: Self.folder(of: file))
        }
        return try ModelFile(xml: try Self.bytes(of: file), file: file, warnings: warnings)
    }

    /// Reads and checks the current version.
    ///
    /// - Throws: `ModelError` with the file, and the line if there is one.
    public func readCurrent() throws(ModelError) -> ModelFile {
        try read(currentName)
    }

    // MARK: The current version

    private struct CurrentVersion: Decodable {
        let name: String

        enum CodingKeys: String, CodingKey {
            case name = "_XCCurrentVersionName"
        }
    }

    private static func current(of names: [String], in path: String, inside: [String])
        throws(ModelError) -> (String, [ModelWarning])
    {
        let file = "\(path)/.xccurrentversion"
        guard inside.contains(".xccurrentversion") else {
            guard names.count > 1 else { return (names[0], []) }
            let own = name(of: path)
            let chosen =
                names.contains(own) ? own : names.first { !hasNumber($0) } ?? names[0]
            let warning = ModelWarning(
                "none of the \(names.count) versions is marked as current: using \(chosen)",
                file: path)
            return (chosen, [warning])
        }
        let list = try bytes(of: file)
        guard let text = try? PropertyListDecoder().decode(CurrentVersion.self, from: list).name
        else {
            throw ModelError(
                .malformed, "it is not a property list with a string _XCCurrentVersionName",
                file: file
            )
        }
        let chosen = name(of: text)
        guard names.contains(chosen) else {
            throw ModelError(
                .unknownName,
                "it names the version \(chosen), but the versions are \(names.joined(separator: ", "))",
                file: file)
        }
        return (chosen, [])
    }

    // MARK: Names

    /// The last part of a path without `.xcdatamodel`, `.xcdatamodeld` or `.xml`.
    private static func name(of path: String) -> String {
        let last = path.split(separator: "/").last.map(String.init) ?? path
        for ending in [".xcdatamodeld", ".xcdatamodel", ".xml"] where last.hasSuffix(ending) {
            return String(last.dropLast(ending.count))
        }
        return last
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return String(path[..<slash])
    }

    private static func hasNumber(_ name: String) -> Bool {
        name.utf8.last.map { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") } ?? false
    }

    /// Whether one version's name comes before another's: `X 2` before `X 10`.
    private static func comesBefore(_ one: String, _ other: String) -> Bool {
        let left = pieces(of: one)
        let right = pieces(of: other)
        for (a, b) in zip(left, right) where a != b {
            if a.isNumber, b.isNumber, a.text.utf8.count != b.text.utf8.count {
                return a.text.utf8.count < b.text.utf8.count
            }
            return a.text < b.text
        }
        return left.count < right.count
    }

    private struct Piece: Equatable {
        var text: String
        let isNumber: Bool
    }

    private static func pieces(of name: String) -> [Piece] {
        var pieces: [Piece] = []
        for character in name {
            let isNumber = character.isASCII && character.isNumber
            if let last = pieces.last, last.isNumber == isNumber {
                pieces[pieces.count - 1].text.append(character)
            } else {
                pieces.append(Piece(text: String(character), isNumber: isNumber))
            }
        }
        return pieces
    }

    // MARK: Files

    /// Whether a path is a folder; nil if there is nothing.
    static func isFolder(_ path: String) -> Bool? {
        var isFolder = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            return nil
        }
        return isFolder
    }

    private static func list(_ path: String) throws(ModelError) -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: path)
        } catch {
            throw ModelError(.unreadable, "the folder cannot be read: \(error)", file: path)
        }
    }

    static func bytes(of path: String) throws(ModelError) -> Data {
        do {
            let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? UInt64 ?? 0
            guard size <= UInt64(sizeLimit) else {
                throw ModelError(
                    .unreadable, "it has \(size) bytes, but a model can have at most \(sizeLimit)",
                    file: path)
            }
            return try Data(contentsOf: URL(filePath: path))
        } catch let error as ModelError {
            throw error
        } catch {
            throw ModelError(.unreadable, "the file cannot be read: \(error)", file: path)
        }
    }
}
