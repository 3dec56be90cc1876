// One version of a model that a migration in stages names, with Core Data's names.

import CairnModel
public import Foundation

/// A version of a model, with the checksum that it must have.
open class NSManagedObjectModelReference: NSObject, @unchecked Sendable {
    // It does not change.

    /// The checksum that the model must have.
    public let versionChecksum: String
    private let find: () -> NSManagedObjectModel?
    private let place: String

    private init(
        _ place: String, _ versionChecksum: String, _ find: @escaping () -> NSManagedObjectModel?
    ) {
        self.place = place
        self.versionChecksum = versionChecksum
        self.find = find
    }

    /// A version that is there.
    public convenience init(model: NSManagedObjectModel, versionChecksum: String) {
        self.init("the model", versionChecksum) { model }
    }

    /// A version in a file or folder: see ``NSManagedObjectModel/init(contentsOf:)``.
    public convenience init(fileURL: URL, versionChecksum: String) {
        self.init("the model \(fileURL.path)", versionChecksum) {
            NSManagedObjectModel(contentsOf: fileURL)
        }
    }

    /// A version of a bundle's model. Without a bundle: the main one.
    public convenience init(
        entityVersionHashes versionHash: [AnyHashable: Any], in bundle: Bundle?,
        versionChecksum: String
    ) {
        let hashes = Dictionary(
            versionHash.compactMap { name, hash in
                (name.base as? String).map { ($0, hash) }
            }
        ) { first, _ in first }
        self.init("the model of these version hashes", versionChecksum) {
            NSManagedObjectModel.mergedModel(
                from: bundle.map { [$0] },
                forStoreMetadata: [NSStoreModelVersionHashesKey: hashes as? [String: Data] ?? [:]])
        }
    }

    /// A version of a bundle's model by name: of a model's folder, the version that has the checksum. Without a bundle: the main
    /// one.
    public convenience init(name modelName: String, in bundle: Bundle?, versionChecksum: String) {
        self.init("the model \(modelName)", versionChecksum) {
            let bundle = bundle ?? .main
            if let url = ModelSearch(of: bundle).model(named: modelName) {
                let versions = (try? ModelSource(url).versions()) ?? [:]
                return versions.values.first { $0.versionChecksum == versionChecksum }
                    .map { NSManagedObjectModel($0) } ?? NSManagedObjectModel(contentsOf: url)
            }
            // The name of a version.
            for url in ModelSearch.models(in: [bundle]) {
                if let model = try? ModelSource(url).version(named: modelName) {
                    return NSManagedObjectModel(model)
                }
            }
            return nil
        }
    }

    /// The model. One that is not there, or has another checksum, ends the program with a sentence.
    open var resolvedModel: NSManagedObjectModel {
        guard let model = find() else { preconditionFailure("\(place) is not there") }
        precondition(
            model.versionChecksum == versionChecksum,
            "\(place) has the checksum \(model.versionChecksum), not \(versionChecksum)")
        return model
    }
}
