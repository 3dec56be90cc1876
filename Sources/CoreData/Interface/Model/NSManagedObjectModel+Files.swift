// Models of files and bundles, and several as one, with Core Data's names.

import CairnModel
import CairnObjects
import CairnStore
public import Foundation

extension NSManagedObjectModel {
    /// The model of a file or folder: `.xcdatamodeld`, `.xcdatamodel`, `.momd` or `.mom`. For a compiled model that is not there
    /// its source beside it is taken. Nil, after a sentence on the standard error stream, if it cannot be read.
    public convenience init?(contentsOf url: URL) {
        do {
            let source = ModelSource(url)
            self.init(try source.read())
            isFormerVersion = source.isFormerVersion
        } catch {
            StandardError.write("CoreData: error: the model cannot be read: \(error)")
            return nil
        }
    }

    /// The model that has the entities of several; without models, those of the main bundle.
    ///
    /// Models that say different things of an entity of one name end the program with a sentence.
    public convenience init?(byMerging models: [NSManagedObjectModel]?) {
        let models = models ?? Self.models(in: nil)
        do {
            self.init(try ManagedObjectModel(merging: models.map(\.described)))
        } catch {
            preconditionFailure("the models cannot be merged: \(error)")
        }
        takeRest(of: models)
    }

    /// The model that a store was made with, of models that may be of different versions; nil if they do not have all of its
    /// entities. If the store was made with one of them, it is equal to that one.
    public convenience init?(
        byMerging models: [NSManagedObjectModel], forStoreMetadata metadata: [String: Any]
    ) {
        guard let hashes = Self.versionHashes(in: metadata) else { return nil }
        // Programs look which version it is.
        if let version = models.first(where: { $0.entityVersionHashesByName == hashes }) {
            self.init(version.described)
            takeRest(of: [version])
            return
        }
        guard
            let merged = ManagedObjectModel(
                merging: models.map(\.described), forEntityVersionHashes: hashes)
        else { return nil }
        self.init(merged)
        takeRest(of: models)
    }

    /// Takes what Cairn's descriptions of the other ones do not have.
    private func takeRest(of models: [NSManagedObjectModel]) {
        var known = Set<String>()
        for entity in entities {
            guard let name = entity.name, known.insert(name).inserted else { continue }
            let same = models.lazy.compactMap { $0.entitiesByName[name] }
                .first { $0.versionHash == entity.versionHash }
            if let same { entity.takeRest(of: same) }
        }
        for model in models { requests.merge(model.requests) { first, _ in first } }
    }

    /// The model that has the entities of all models of some bundles; nil if they have none. Without bundles: the main one.
    public class func mergedModel(from bundles: [Bundle]?) -> NSManagedObjectModel? {
        let models = models(in: bundles)
        return models.isEmpty ? nil : NSManagedObjectModel(byMerging: models)
    }

    /// The model that a store was made with, of all versions of all models of some bundles; nil if they do not have it.
    public class func mergedModel(
        from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any]
    ) -> NSManagedObjectModel? {
        let sources = ModelSearch.models(in: bundles).map { ModelSource($0) }
        let versions =
            version(ofStore: metadata, in: sources).map { [$0] }
            ?? sources.flatMap { source in
                ((try? source.versions()) ?? [:]).sorted { $0.key < $1.key }.map(\.value)
            }
        let model = NSManagedObjectModel(
            byMerging: versions.map { NSManagedObjectModel($0) }, forStoreMetadata: metadata)
        // Which of them it is nobody says.
        model?.isFormerVersion = true
        return model
    }

    /// The version that a store says it was made with; nil if none is the one. The others are not read again.
    private class func version(ofStore metadata: [String: Any], in sources: [ModelSource])
        -> ManagedObjectModel?
    {
        guard let checksum = metadata[StoreMetadata.Key.modelVersionChecksum] as? String else {
            return nil
        }
        for source in sources {
            for name in source.versionNames where source.checksum(ofVersion: name) == checksum {
                return try? source.version(named: name)
            }
        }
        return nil
    }

    private class func models(in bundles: [Bundle]?) -> [NSManagedObjectModel] {
        ModelSearch.models(in: bundles).compactMap(NSManagedObjectModel.init(contentsOf:))
    }
}
