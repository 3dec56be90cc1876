// Reads files as text.

import FoundationEssentials

/// Reads files.
enum TextFile {
    /// Whether something has that path.
    static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    /// The text of a file; nil if it is not UTF-8.
    static func read(_ path: String) throws -> String? {
        let data: Data
        do {
            data = try Data(contentsOf: URL(filePath: path))
        } catch {
            throw PortError("\(path): the file cannot be read: \(error)")
        }
        return String(validating: data, as: UTF8.self)
    }
}
