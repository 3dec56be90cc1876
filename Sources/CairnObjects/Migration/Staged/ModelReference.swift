// A model that a stage of a migration names.
//
// Threads: values.

public import CairnModel
public import CairnStore
public import FoundationEssentials

/// The model at the beginning or end of a migration stage: the model itself, or its location, and its expected version.
///
/// ```swift
/// let first = ModelReference(model)
/// let second = ModelReference(for: ShopV2.Product.self, ShopV2.Tag.self)
/// let third = ModelReference(contentsOfFile: "Shop.xcdatamodeld", versionChecksum: "dGhpcyBpcyBub3QgcmVhbA==")
/// ```
public struct ModelReference: Sendable {
    private enum Place: Sendable {
        case model(ManagedObjectModel)
        case file(String)
    }

    private let place: Place
    /// The checksum that the version must have; see `ManagedObjectModel.versionChecksum`.
    public let versionChecksum: String
    /// The classes of the model's objects, for the code of stages.
    public let classes: ObjectClasses

    /// References a model in memory.
    ///
    /// - Parameters:
    ///   - versionChecksum: the expected version; nil: any.
    ///   - classes: the classes that the code of stages uses; none: it works by key.
    public init(
        _ model: ManagedObjectModel, versionChecksum: String? = nil,
        classes: ObjectClasses = ObjectClasses()
    ) {
        place = .model(model)
        self.versionChecksum = versionChecksum ?? model.versionChecksum
        self.classes = classes
    }

    /// The model that typed classes describe, and these classes.
    public init(for types: any PersistentEntity.Type...) { self.init(for: types) }

    /// The model that typed classes describe, and these classes.
    public init(for types: [any PersistentEntity.Type]) {
        self.init(ManagedObjectModel(for: types), classes: ObjectClasses(for: types))
    }

    /// The version with a checksum in a `.xcdatamodeld` or `.xcdatamodel` folder, or a model file. It is read when it is
    /// needed.
    public init(contentsOfFile path: String, versionChecksum: String) {
        place = .file(path)
        self.versionChecksum = versionChecksum
        classes = ObjectClasses()
    }

    /// The version with a checksum in a `.xcdatamodeld` or `.xcdatamodel` folder, or a model file. It is read when it is
    /// needed.
    public init(contentsOf url: URL, versionChecksum: String) {
        self.init(contentsOfFile: url.path(percentEncoded: false), versionChecksum: versionChecksum)
    }

    /// The model.
    ///
    /// - Throws: `StoreError` with `.modelReferenceNotFound` if it has another version, or no version has the checksum;
    ///   with a `ModelError` as its cause if it cannot be read.
    public func resolvedModel() throws(StoreError) -> ManagedObjectModel {
        switch place {
        case .model(let model):
            if model.versionChecksum == versionChecksum { return model }
            throw StoreError(
                .modelReferenceNotFound,
                "the model of a stage has the version \(model.versionChecksum), not \(versionChecksum)"
            )
        case .file(let path):
            var failure: ModelError?
            var names: [String] = []
            do throws(ModelError) {
                let versions = try ModelVersions(contentsOfFile: path)
                names = versions.names
                for name in names.reversed() {
                    do throws(ModelError) {
                        let model = try versions.read(name).model
                        if model.versionChecksum == versionChecksum { return model }
                    } catch { failure = failure ?? error }
                }
            } catch { failure = error }
            throw StoreError(
                .modelReferenceNotFound,
                failure == nil
                    ? "no version of the model matches the stage's, \(versionChecksum); the versions are: \(names.joined(separator: ", "))"
                    : "the model of a stage cannot be read", context: .init(path: path),
                cause: failure)
        }
    }
}
