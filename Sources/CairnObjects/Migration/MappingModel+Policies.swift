// Reads mapping models of Xcode with the classes of their policies.
//
// Threads: values.

public import CairnModel

extension MappingModel {
    /// Reads an Xcode mapping model, and assigns policies to its mappings.
    ///
    /// ```swift
    /// let mapping = try MappingModel(
    ///     contentsOfFile: "Shop 1 to 2.xcmappingmodel", forSourceModel: old, destinationModel: new,
    ///     policies: ["UserPolicy": UserPolicy.self])
    /// ```
    ///
    /// - Parameters:
    ///   - path: the `.xcmappingmodel` folder, or the `xcmapping.xml` in it.
    ///   - old: the model of the store.
    ///   - new: the model that the store is migrated to.
    ///   - policies: the classes by the names in the file, with the module as in `Shop.UserPolicy`, or without.
    /// - Throws: `ModelError` as ``init(contentsOfFile:forSourceModel:destinationModel:)``, and if the file names a policy
    ///   whose class is not provided.
    public init(
        contentsOfFile path: String, forSourceModel old: ManagedObjectModel,
        destinationModel new: ManagedObjectModel, policies: [String: EntityMigrationPolicy.Type]
    ) throws(ModelError) {
        try self.init(
            contentsOfFile: path, from: Schema(old, isStored: true), to: Schema(new),
            policy: { policies.policy(named: $0).map(PolicyClass.init) })
    }
}

extension [String: EntityMigrationPolicy.Type] {
    /// The class of a policy by the name that a mapping has for it: the name itself, or what it is without the module.
    func policy(named name: String) -> EntityMigrationPolicy.Type? {
        self[name] ?? name.split(separator: ".").last.flatMap { self[String($0)] }
    }
}
