// Reads mapping models written by Xcode.
//
// Threads: values.

public import FoundationEssentials

extension MappingModel {
    /// Reads an Xcode mapping model, and checks it against both models.
    ///
    /// ```swift
    /// let mapping = try MappingModel(
    ///     contentsOfFile: "Shop 1 to 2.xcmappingmodel", forSourceModel: old, destinationModel: new)
    /// ```
    ///
    /// Entity mappings come in Xcode's order and with Xcode's names, filter predicates, user info, value expressions and
    /// the names of policies. A property without an expression in the file gets what Xcode's compiler generates: an
    /// attribute gets the value of the attribute with the same name, a relationship the migrated members of the
    /// relationship with the same name. Mappings of abstract entities, which have no objects, and of attributes that cannot
    /// be set are omitted; a relationship that names such an entity mapping refers to the objects that any mapping created.
    ///
    /// The file contains no version hashes of entities: the caller must know which models it belongs to. Policies are known
    /// only by name: the code that runs the migration provides their classes. Their functions have the selectors of the
    /// file as their names, such as `fullNameOf:`.
    ///
    /// - Parameters:
    ///   - path: the `.xcmappingmodel` folder, or the `xcmapping.xml` in it. Compiled mapping models (`.cdm`) are not
    ///     supported.
    ///   - old: the model of the store.
    ///   - new: the model that the store is migrated to.
    /// - Throws: `ModelError` with the file, the line, and the mapping and property, such as `CarToCar.name`, if the file
    ///   is malformed, a mapping cannot run, or it does not fit the models.
    /// - Complexity: O(size of the file and of both models).
    public init(
        contentsOfFile path: String, forSourceModel old: ManagedObjectModel,
        destinationModel new: ManagedObjectModel
    ) throws(ModelError) {
        try self.init(
            contentsOfFile: path, from: Schema(old, isStored: true), to: Schema(new), policy: nil)
    }

    /// Reads an Xcode mapping model; see ``init(contentsOfFile:forSourceModel:destinationModel:)``.
    ///
    /// - Throws: `ModelError` with the file, the line, and the mapping and property.
    public init(
        contentsOf url: URL, forSourceModel old: ManagedObjectModel,
        destinationModel new: ManagedObjectModel
    ) throws(ModelError) {
        try self.init(
            contentsOfFile: url.path(percentEncoded: false), forSourceModel: old,
            destinationModel: new)
    }

    /// Reads the XML of a mapping model; see ``init(contentsOfFile:forSourceModel:destinationModel:)``.
    ///
    /// - Parameters:
    ///   - xml: the text of an `xcmapping.xml`.
    ///   - file: the file name for errors.
    ///   - old: the model of the store.
    ///   - new: the model that the store is migrated to.
    /// - Throws: `ModelError` with the line, and the mapping and property.
    public init(
        xml: Data, file: String? = nil, forSourceModel old: ManagedObjectModel,
        destinationModel new: ManagedObjectModel
    ) throws(ModelError) {
        self = try MappingModelFile(xml: xml, name: file)
            .mapping(from: Schema(old, isStored: true), to: Schema(new), policy: nil)
    }

    /// The same for schemas.
    ///
    /// - Parameter policy: gives the class of a policy by the name in the file; nil: no class is looked for.
    package init(
        contentsOfFile path: String, from old: Schema, to new: Schema,
        policy: ((String) -> (any MappingCode)?)?
    ) throws(ModelError) {
        self = try MappingModelFile(contentsOfFile: path)
            .mapping(from: old, to: new, policy: policy)
    }
}
