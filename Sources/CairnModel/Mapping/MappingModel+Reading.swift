// Reads mapping models that Xcode has written.
//
// Threads: values.

public import FoundationEssentials

extension MappingModel {
    /// Reads a mapping model of Xcode, and checks it against both models.
    ///
    /// ```swift
    /// let mapping = try MappingModel(
    ///     contentsOfFile: "Shop 1 to 2.xcmappingmodel", forSourceModel: old, destinationModel: new)
    /// ```
    ///
    /// Entity mappings come in Xcode's order and by its names, with filter predicates, user info, value expressions and the names of
    /// policies. A property that the file gives no expression has what Xcode's compiler gives it: an attribute the value of the one
    /// with the same name, a relationship what the members of the one with the same name became. Mappings of abstract entities,
    /// which have no objects, and of attributes that nobody can set are left out; a relationship that names one of the former
    /// leads to what any mapping made.
    ///
    /// The file says nothing that could be compared with the versions of entities: which models it is for the caller has to know.
    /// Policies are known by their names only: code that carries the mapping out says which classes they are. Their functions have
    /// the selectors of the file as their names, such as `fullNameOf:`.
    ///
    /// - Parameters:
    ///   - path: the `.xcmappingmodel` folder, or the `xcmapping.xml` in it. A compiled mapping model, `.cdm`, is not read.
    ///   - old: the model of the store.
    ///   - new: the model that the store is migrated to.
    /// - Throws: `ModelError` with the file, the line, and the mapping and property, such as `CarToCar.name`: what is broken, what
    ///   cannot be carried out, and what does not fit the models.
    /// - Complexity: O(size of the file and of both models).
    public init(
        contentsOfFile path: String, forSourceModel old: ManagedObjectModel,
        destinationModel new: ManagedObjectModel
    ) throws(ModelError) {
        try self.init(
            contentsOfFile: path, from: Schema(old, isStored: true), to: Schema(new), policy: nil)
    }

    /// Reads a mapping model of Xcode; see ``init(contentsOfFile:forSourceModel:destinationModel:)``.
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
    ///   - file: what errors call it.
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
