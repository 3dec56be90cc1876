// A model that was read from a file: the model, its schema, and the warnings.

public import FoundationEssentials

/// A checked model from a file.
public struct ModelFile: Sendable {
    /// The model.
    public let model: ManagedObjectModel
    /// The model's schema. Reading a file creates it, so that its errors have line numbers.
    public let schema: Schema
    /// The XML file, if the model was read from one.
    public let path: String?
    /// What is unusual in the file, or in its folder, without making the model unusable.
    public let warnings: [ModelWarning]

    /// Reads a `.xcdatamodeld` folder, a `.xcdatamodel` folder, or the XML file itself.
    ///
    /// - Parameters:
    ///   - path: The folder or file.
    ///   - version: The version to read from a folder with several; nil = the current one.
    /// - Throws: `ModelError` with the file, and the line if there is one.
    public init(contentsOfFile path: String, version: String? = nil) throws(ModelError) {
        let versions = try ModelVersions(contentsOfFile: path)
        self = try versions.read(version ?? versions.currentName)
    }

    /// Reads a `.xcdatamodeld` folder, a `.xcdatamodel` folder, or the XML file itself.
    ///
    /// - Parameters:
    ///   - url: The folder or file.
    ///   - version: The version to read from a folder with several; nil = the current one.
    /// - Throws: `ModelError` with the file, and the line if there is one.
    public init(contentsOf url: URL, version: String? = nil) throws(ModelError) {
        try self.init(contentsOfFile: url.path(percentEncoded: false), version: version)
    }

    /// Parses the XML of a model.
    ///
    /// - Parameters:
    ///   - xml: The XML, in the encoding that it declares.
    ///   - file: The file name for errors and warnings.
    /// - Throws: `ModelError` with the line.
    public init(xml: Data, file: String? = nil) throws(ModelError) {
        try self.init(xml: xml, file: file, warnings: [])
    }

    init(xml: Data, file: String?, warnings: [ModelWarning]) throws(ModelError) {
        let reader = try ModelReader.read(xml, file: file)
        do throws(ModelError) {
            schema = try Schema(reader.model)
        } catch {
            throw reader.lines.place(error, file: file)
        }
        model = reader.model
        path = file
        self.warnings = warnings + reader.warnings
    }
}

extension ManagedObjectModel {
    /// Reads a model from a `.xcdatamodeld` folder (its current version), a `.xcdatamodel` folder, or the XML file itself,
    /// and checks it. `ModelFile` does the same and also provides warnings and versions.
    ///
    /// - Throws: `ModelError` with the file, and the line if there is one.
    public init(contentsOf url: URL) throws(ModelError) {
        self = try ModelFile(contentsOf: url).model
    }

    /// Reads a model from a path; see ``init(contentsOf:)``.
    ///
    /// - Throws: `ModelError` with the file, and the line if there is one.
    public init(contentsOfFile path: String) throws(ModelError) {
        self = try ModelFile(contentsOfFile: path).model
    }

    /// Parses the XML of a model and checks it.
    ///
    /// - Throws: `ModelError` with the line.
    public init(xml: Data, file: String? = nil) throws(ModelError) {
        self = try ModelFile(xml: xml, file: file).model
    }
}
