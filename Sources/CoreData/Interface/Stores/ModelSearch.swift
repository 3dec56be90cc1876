// Finds the files of models and mapping models among the resources of a program.
//
// On Apple's platforms they are in the main bundle, or in those of frameworks. A Swift package has a bundle for each target with
// resources, PACKAGE_TARGET.resources beside the executable or the test bundle; which of them is meant its caller need not say.
//
//   1. The main bundle, its folder, and the bundles that are loaded.
//   2. The resources of the module that asks, then those of the others, in the order of their names.
//
// Threads: a value.

import Foundation

/// Where models are looked for.
struct ModelSearch {
    /// The folders, the likeliest first.
    let folders: [URL]

    /// Where the models of a program are.
    ///
    /// - Parameter fileID: a file of the module that asks.
    init(_ fileID: StaticString?) {
        let module = fileID.map { String("\($0)".prefix { $0 != "/" }) }
        let bundles = [Bundle.main] + Bundle.allBundles
        var folders = bundles.flatMap { [$0.resourceURL, $0.bundleURL].compactMap(\.self) }
        var packages: [URL] = []
        for place in Set(folders.map { $0.deletingLastPathComponent() } + folders) {
            packages += Self.contents(of: place).filter { $0.pathExtension == "resources" }
        }
        packages.sort { one, other in
            let (isOne, isOther) = (Self.is(one, of: module), Self.is(other, of: module))
            return isOne != isOther ? isOne : one.lastPathComponent < other.lastPathComponent
        }
        folders += packages
        var seen: Set<String> = []
        self.folders = folders.filter { seen.insert($0.standardizedFileURL.path).inserted }
    }

    /// Where the models of some bundles are; nil: those of the program.
    init(bundles: [Bundle]?) {
        self =
            bundles.map {
                ModelSearch(
                    folders: $0.flatMap { [$0.resourceURL, $0.bundleURL].compactMap(\.self) })
            } ?? ModelSearch(nil)
    }

    private init(folders: [URL]) { self.folders = folders }

    /// Whether a bundle of resources is that of a module.
    private static func `is`(_ bundle: URL, of module: String?) -> Bool {
        guard let module else { return false }
        return bundle.deletingPathExtension().lastPathComponent.hasSuffix("_\(module)")
    }

    private static func contents(of folder: URL) -> [URL] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
        return (names ?? []).sorted().map { folder.appendingPathComponent($0) }
    }

    /// The file of that name with one of some extensions; nil if there is none.
    func file(named name: String, extensions: [String]) -> URL? {
        for folder in folders {
            for ending in extensions {
                let file = folder.appendingPathComponent(name).appendingPathExtension(ending)
                if FileManager.default.fileExists(atPath: file.path) { return file }
            }
        }
        return nil
    }

    /// All files with an extension.
    func files(withExtension ending: String) -> [URL] {
        var seen: Set<String> = []
        return folders.flatMap(Self.contents(of:)).filter {
            $0.pathExtension == ending && seen.insert($0.path).inserted
        }
    }

    /// The model of that name. One that is not there, or not valid, ends the program with a sentence.
    func existingModel(named name: String) -> NSManagedObjectModel {
        guard let file = model(named: name) else {
            let searched = folders.map(\.path).joined(separator: ", ")
            preconditionFailure(
                "there is no model \(name).xcdatamodeld: it must be among the resources of a target, as .copy(\"\(name).xcdatamodeld\"). Searched: \(searched)"
            )
        }
        guard let model = NSManagedObjectModel(contentsOf: file) else {
            preconditionFailure("the model \(file.path) cannot be read")
        }
        return model
    }
}
