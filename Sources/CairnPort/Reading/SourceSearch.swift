// Finds what a source tree has for the port: Swift files, models, and what is neither.
//
//   1. Folders of dependencies and of what is built are not the tree's own: they are skipped, and so are hidden ones.
//   2. Links are not followed: what they lead to is found where it lies, or belongs to somebody else.

import FoundationEssentials

/// The files of a source tree, each list in the order of the paths.
struct SourceSearch {
    private(set) var swiftFiles: [String] = []
    /// Folders of models as Xcode's editor saves them.
    private(set) var models: [String] = []
    private(set) var compiledModels: [String] = []
    private(set) var objectiveCFiles: [String] = []

    /// - Parameter paths: folders, or single files.
    /// - Throws: `PortError` if there is nothing at a path.
    init(_ paths: [String]) throws {
        var seen: Set<String> = []
        for path in paths {
            // As it was given, but for the slash at its end.
            let path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
            var isFolder = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
                throw PortError("\(path): there is no such file or folder")
            }
            try add(path, isFolder: isFolder, &seen)
        }
    }

    private static let skippedFolders: Set<String> = [
        "Carthage", "DerivedData", "Pods", "node_modules",
    ]

    private mutating func add(_ path: String, isFolder: Bool, _ seen: inout Set<String>) throws {
        guard seen.insert(path).inserted else { return }
        switch Self.ending(of: path) {
        case "xcdatamodeld" where isFolder, "xcdatamodel" where isFolder: models.append(path)
        case "momd", "mom", "omo", "cdm": compiledModels.append(path)
        case "swift" where !isFolder: swiftFiles.append(path)
        case "m" where !isFolder, "mm" where !isFolder, "h" where !isFolder:
            objectiveCFiles.append(path)
        default: if isFolder { try addContent(of: path, &seen) }
        }
    }

    private mutating func addContent(of folder: String, _ seen: inout Set<String>) throws {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        } catch {
            throw PortError("\(folder): the folder cannot be read: \(error)")
        }
        for name in names where !name.hasPrefix(".") && !Self.skippedFolders.contains(name) {
            let path = folder == "." ? name : "\(folder)/\(name)"
            let type = try? FileManager.default.attributesOfItem(atPath: path)[.type]
            switch type as? FileAttributeType {
            case .typeDirectory: try add(path, isFolder: true, &seen)
            case .typeRegular: try add(path, isFolder: false, &seen)
            default: break
            }
        }
    }

    private static func ending(of path: String) -> Substring {
        guard let point = path.lastIndex(of: "."), !path[point...].contains("/") else { return "" }
        return path[path.index(after: point)...]
    }
}
