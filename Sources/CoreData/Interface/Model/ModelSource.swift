// Where a model is read from: the source that Xcode edits, or what Xcode compiles of it.
//
//   M.xcdatamodeld, M.xcdatamodel    the source: read as it is
//   M.momd                           a folder of compiled versions; VersionInfo.plist names the current one
//   V.mom                            a compiled version
//
// Nothing compiles models on Linux, and programs name what is compiled: so where `M.momd` is not there, `M.xcdatamodeld` beside
// it is taken, and for `M.momd/V.mom` the version V in it.
//
// Threads: a value.

import CairnModel
import Foundation

/// A model file or folder.
struct ModelSource {
    /// What is there.
    let url: URL
    /// The version that is meant; nil: the current one.
    private let version: String?

    /// What a program means by a URL. It need not exist.
    init(_ url: URL) {
        let isCompiled = ["momd", "mom"].contains(url.pathExtension)
        guard isCompiled, !FileManager.default.fileExists(atPath: url.path) else {
            (self.url, version) = (url, nil)
            return
        }
        let name = url.deletingPathExtension()
        let folder = url.deletingLastPathComponent()
        for candidate in [
            name.appendingPathExtension("xcdatamodeld"), name.appendingPathExtension("xcdatamodel"),
        ] where FileManager.default.fileExists(atPath: candidate.path) {
            (self.url, version) = (candidate, nil)
            return
        }
        let source = folder.deletingPathExtension().appendingPathExtension("xcdatamodeld")
        if folder.pathExtension == "momd", FileManager.default.fileExists(atPath: source.path) {
            (self.url, version) = (source, name.lastPathComponent)
        } else {
            (self.url, version) = (url, nil)
        }
    }

    /// Reads the model.
    ///
    /// - Throws: `ModelError` with the file, and the line where there is one.
    func read() throws(ModelError) -> ManagedObjectModel {
        if !FileManager.default.fileExists(atPath: url.path) {
            throw ModelError(
                .unreadable,
                "there is no such file or folder, and no .xcdatamodeld of that name beside it: add the source of the model to the target's resources, as .copy(\"M.xcdatamodeld\")",
                file: url.path)
        }
        switch url.pathExtension {
        case "momd": return try Self.compiled(try currentCompiled())
        case "mom": return try Self.compiled(url)
        default: return try ModelFile(contentsOf: url, version: version).model
        }
    }

    /// Whether it is one of several versions, and not the current one.
    var isFormerVersion: Bool {
        switch (url.pathExtension, url.deletingLastPathComponent().pathExtension) {
        case ("xcdatamodeld", _):
            return version.map { isOther($0, thanCurrentOf: url) } ?? false
        case ("xcdatamodel", "xcdatamodeld"):
            return isOther(
                url.deletingPathExtension().lastPathComponent,
                thanCurrentOf: url.deletingLastPathComponent())
        case ("mom", "momd"):
            let current = try? ModelSource(url.deletingLastPathComponent()).currentCompiled()
            return current.map { $0.lastPathComponent != url.lastPathComponent } ?? false
        default: return false
        }
    }

    private func isOther(_ name: String, thanCurrentOf folder: URL) -> Bool {
        (try? ModelVersions(contentsOf: folder)).map { $0.currentName != name } ?? false
    }

    /// Reads all versions, by name.
    ///
    /// - Throws: `ModelError` with the file, and the line where there is one.
    func versions() throws(ModelError) -> [String: ManagedObjectModel] {
        var models: [String: ManagedObjectModel] = [:]
        switch url.pathExtension {
        case "momd", "mom":
            for name in versionNames { models[name] = try version(named: name) }
        default:
            let versions = try ModelVersions(contentsOf: url)
            for name in versions.names { models[name] = try versions.read(name).model }
        }
        return models
    }

    /// The names of all versions; none if they cannot be read.
    var versionNames: [String] {
        switch url.pathExtension {
        case "momd": compiledVersions.map { $0.deletingPathExtension().lastPathComponent }
        case "mom": [url.deletingPathExtension().lastPathComponent]
        default: (try? ModelVersions(contentsOf: url).names) ?? []
        }
    }

    /// Reads one version.
    ///
    /// - Throws: `ModelError`: there is none of that name, or it cannot be read.
    func version(named name: String) throws(ModelError) -> ManagedObjectModel {
        switch url.pathExtension {
        case "momd":
            return try Self.compiled(url.appendingPathComponent(name).appendingPathExtension("mom"))
        case "mom" where url.deletingPathExtension().lastPathComponent != name:
            throw ModelError(.unknownName, "the model is not \(name)", file: url.path)
        case "mom": return try read()
        default: return try ModelVersions(contentsOf: url).read(name).model
        }
    }

    /// What tells one version from others; nil if it cannot be read. It is read anew only if its file has changed: programs that
    /// migrate from version to version ask for many of them again and again.
    func checksum(ofVersion name: String) -> String? {
        let file =
            switch url.pathExtension {
            case "momd": url.appendingPathComponent(name).appendingPathExtension("mom")
            case "xcdatamodeld":
                url.appendingPathComponent(name).appendingPathExtension("xcdatamodel")
                    .appendingPathComponent("contents")
            case "xcdatamodel": url.appendingPathComponent("contents")
            default: url
            }
        // A file that has one version alone is remembered as that one, and asked for any.
        if !["momd", "xcdatamodeld"].contains(url.pathExtension), !versionNames.contains(name) {
            return nil
        }
        return Self.checksums.value(ofFileAt: file.path) {
            try? version(named: name).versionChecksum
        }
    }

    private static let checksums = FileMemory<String>()

    // MARK: Compiled models

    private var compiledVersions: [URL] {
        let files = try? FileManager.default.contentsOfDirectory(
            at: url, includingPropertiesForKeys: nil)
        return (files ?? []).filter { $0.pathExtension == "mom" }
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
    }

    private func currentCompiled() throws(ModelError) -> URL {
        let files = compiledVersions
        if files.count == 1 { return files[0] }
        let list = url.appendingPathComponent("VersionInfo.plist")
        let info = (try? Data(contentsOf: list)).flatMap {
            try? PropertyListSerialization.propertyList(from: $0, format: nil) as? [String: Any]
        }
        guard let name = info?["NSManagedObjectModel_CurrentVersionName"] as? String else {
            throw ModelError(
                .unreadable, "it is not a property list that names the current version",
                file: list.path)
        }
        guard
            let file = files.first(where: {
                $0.deletingPathExtension().lastPathComponent == name
            })
        else {
            throw ModelError(
                .unreadable, "it names the version \(name), which is not in the folder",
                file: list.path)
        }
        return file
    }

    private static func compiled(_ file: URL) throws(ModelError) -> ManagedObjectModel {
        guard let data = try? Data(contentsOf: file) else {
            throw ModelError(.unreadable, "there is no such file", file: file.path)
        }
        guard let archive = KeyedArchive([UInt8](data)), var model = ArchivedModel(archive) else {
            throw ModelError(.malformed, "it is not a compiled model", file: file.path)
        }
        do throws(ModelError) {
            let schema = try model.schema()
            for remark in model.remarks {
                StandardError.write("CoreData: warning: \(file.path): \(remark)")
            }
            return schema.model
        } catch {
            var error = error
            error.file = file.path
            throw error
        }
    }
}
