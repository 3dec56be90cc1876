// Finds the mapping model between two models among the resources of a program.
//
// The file of a mapping model says where the models were that it was made for, and nothing by which they could be told from others:
// so the version of that name is looked for, in the model's folder beside the mapping model or in the same bundles, and compared. A
// mapping model whose versions are not there is taken if it fits, and no other one does for certain.
//
// Threads: any.

import CairnModel
import CairnStore
import Foundation

/// Finds mapping models.
enum MappingModelSearch {
    /// What a mapping model is called.
    static let ending = "xcmappingmodel"

    /// The mapping model from one model to another; nil if there is none.
    static func mapping(
        from source: NSManagedObjectModel, to destination: NSManagedObjectModel,
        in bundles: [Bundle]?
    ) -> MappingModel? {
        let files = ModelSearch(bundles: bundles).files(withExtension: ending)
        if files.isEmpty { return nil }
        guard let old = try? source.resolved().schema, let new = try? destination.resolved().schema
        else { return nil }
        let checksums = (old.model.versionChecksum, new.model.versionChecksum)
        var guess: MappingModel?
        for url in files {
            guard let ends = Ends(of: url) else { continue }
            func checksum(_ path: String?) -> String? {
                version(at: path, beside: url, in: bundles) { $0.checksum(ofVersion: $1) }
            }
            let before = checksum(ends.source)
            if let before, before != checksums.0 { continue }
            let after = checksum(ends.destination)
            if let after, after != checksums.1 { continue }
            guard
                let mapping = try? MappingModelFile(contentsOfFile: url.path)
                    .mapping(from: old, to: new, policy: nil)
            else { continue }
            if before != nil, after != nil { return mapping }
            guess = guess ?? mapping
        }
        return guess
    }

    /// The mapping model of a file, between the models that it names.
    ///
    /// - Throws: `ModelError`: it cannot be read, or one of the models is not there.
    static func mapping(at url: URL) throws(ModelError) -> MappingModel {
        var url = url
        if url.pathExtension == "cdm", !FileManager.default.fileExists(atPath: url.path) {
            url = url.deletingPathExtension().appendingPathExtension(ending)
        }
        let file = try MappingModelFile(contentsOfFile: url.path)
        func schema(_ path: String?) throws(ModelError) -> Schema {
            let found = version(at: path, beside: url, in: nil) {
                try? $0.version(named: $1)
            }
            guard let found else {
                throw ModelError(
                    .unknownName,
                    "the model \(path ?? "") is neither beside the mapping model nor in the main bundle",
                    file: url.path)
            }
            return try Schema(found)
        }
        return try file.mapping(
            from: try schema(file.sourceModelPath), to: try schema(file.destinationModelPath),
            policy: nil)
    }

    /// What is read of the version that a mapping model was made for; nil if that is not there.
    ///
    /// - Parameter path: where it was, such as Shop/Shop.xcdatamodeld/Shop 1.xcdatamodel.
    private static func version<Value>(
        at path: String?, beside file: URL, in bundles: [Bundle]?,
        _ read: (ModelSource, String) -> Value?
    ) -> Value? {
        let parts = (path ?? "").split(separator: "/").suffix(2)
        guard let last = parts.last, last.hasSuffix(".xcdatamodel") else { return nil }
        let version = String(last.dropLast(".xcdatamodel".count))
        let isInFolder = parts.count == 2 && parts.first?.hasSuffix(".xcdatamodeld") == true
        let folder = isInFolder ? String(parts[parts.startIndex]) : String(last)
        let beside = file.deletingLastPathComponent().appendingPathComponent(folder)
        if let value = read(ModelSource(beside), version) { return value }
        let name = beside.deletingPathExtension().lastPathComponent
        for place in ModelSearch.models(in: bundles)
        where place.deletingPathExtension().lastPathComponent == name {
            if let value = read(ModelSource(place), version) { return value }
        }
        return nil
    }
}

/// Where a mapping model says that its models were.
private struct Ends {
    let source: String?
    let destination: String?

    private static let known = FileMemory<Ends>()

    /// What a mapping model is between; nil if it cannot be read.
    init?(of url: URL) {
        let inside = url.appendingPathComponent("xcmapping.xml").path
        let path = FileManager.default.fileExists(atPath: inside) ? inside : url.path
        let ends = Self.known.value(ofFileAt: path) {
            (try? MappingModelFile(contentsOfFile: path)).map(Ends.init)
        }
        guard let ends else { return nil }
        self = ends
    }

    private init(_ file: MappingModelFile) {
        source = file.sourceModelPath
        destination = file.destinationModelPath
    }
}

extension ManagedObjectModel {
    /// Whether stores of one can be opened with the other.
    func hasSameVersion(as other: ManagedObjectModel) -> Bool {
        entityVersionHashesByName == other.entityVersionHashesByName
    }
}
