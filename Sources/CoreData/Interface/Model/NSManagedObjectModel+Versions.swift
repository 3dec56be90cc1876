// What tells versions of a model apart, with Core Data's names.

import CairnModel
public import Foundation
import Synchronization

extension NSManagedObjectModel {
    /// The version hash of each entity, by name: what stores keep of their models.
    public var entityVersionHashesByName: [String: Data] {
        let (changes, isFinal) = (ModelChanges.count.load(ordering: .relaxed), isInUse)
        if let known = versionHashes.withLock({ $0 }), known.isFinal || known.changes == changes {
            return known.byName
        }
        let byName = described.entityVersionHashesByName
        versionHashes.withLock {
            $0 = VersionHashes(byName: byName, changes: changes, isFinal: isFinal)
        }
        return byName
    }

    /// The hashes as they were computed: who looks for the version of a store asks many models for them.
    struct VersionHashes {
        let byName: [String: Data]
        /// ``ModelChanges`` at that time.
        let changes: Int
        /// Whether the model was in use, so that they stay.
        let isFinal: Bool
    }

    /// A short text that is the same for models that store the same.
    public var versionChecksum: String { described.versionChecksum }

    /// Whether a store can be opened with a configuration of the model as it is, without migration.
    ///
    /// - Parameters:
    ///   - configuration: the name; nil: all entities.
    ///   - metadata: the metadata of the store.
    public func isConfiguration(
        withName configuration: String?, compatibleWithStoreMetadata metadata: [String: Any]
    ) -> Bool {
        guard let entities = entities(forConfigurationName: configuration),
            let stored = Self.versionHashes(in: metadata)
        else { return false }
        let hashes = entityVersionHashesByName
        // A store for a configuration may have been made with all entities, and the other way round.
        let names = Set(entities.compactMap(\.name))
        return names.allSatisfy { stored[$0] == hashes[$0] }
            && stored.allSatisfy { name, hash in
                names.contains(name) || (configuration != nil && hashes[name] == hash)
            }
    }

    /// The checksums of all versions in a model file or folder, by the version's name.
    ///
    /// - Throws: An error if a version cannot be read.
    public class func checksumsForVersionedModel(at modelURL: URL) throws -> [String: String] {
        try withCoreDataErrors {
            try ModelSource(modelURL).versions().mapValues(\.versionChecksum)
        }
    }

    /// The entities' version hashes that a store's metadata has.
    static func versionHashes(in metadata: [String: Any]) -> [String: Data]? {
        metadata[NSStoreModelVersionHashesKey] as? [String: Data]
    }
}
