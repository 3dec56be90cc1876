// A model that was read from a file: the model, its schema, and what was odd on the way.

public import FoundationEssentials

/// A model read from a file, checked.
public struct ModelFile: Sendable {
    /// The model.
    public let model: ManagedObjectModel
    /// The model's schema: reading a file includes making it, so that its errors name lines.
    public let schema: Schema
    /// The file with the XML, if the model came from one.
    public let path: String?
    /// What is odd in the file, or in the folder around it, without making it unusable.
    public let warnings: [ModelWarning]

    /// Reads a `.xcdatamodeld` folder, a `.xcdatamodel` folder, or the XML file itself.
    ///
    /// - Parameters:
    ///   - path: The folder or file.
    ///   - version: The version of a folder with several; nil = the current one.
    /// - Throws: `ModelError` with the file, and the line where there is one.
    public init(contentsOfFile path: String, version: String? = nil) throws(ModelError) {
        let versions = try ModelVersions(contentsOfFile: path)
        self = try versions.read(version ?? versions.currentName)
    }

    /// Reads a `.xcdatamodeld` folder, a `.xcdatamodel` folder, or the XML file itself.
    ///
    /// - Parameters:
    ///   - url: The folder or file.
    ///   - version: The version of a folder with several; nil = the current one.
    /// - Throws: `ModelError` with the file, and the line where there is one.
    public init(contentsOf url: URL, version: String? = nil) throws(ModelError) {
        try self.init(contentsOfFile: url.path(percentEncoded: false), version: version)
    }

    /// Reads the XML of a model.
    ///
    /// - Parameters:
    ///   - xml: The text, in the encoding that it names.
    ///   - file: What errors and warnings call it.
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
    /// Reads a model from a `.xcdatamodeld` folder (its current version), a `.xcdatamodel` folder, or the
    /// XML file itself, and checks it. `ModelFile` does the same and has warnings and versions as well.
    ///
    /// - Throws: `ModelError` with the file, and the line where there is one.
    public init(contentsOf url: URL) throws(ModelError) {
        self = try ModelFile(contentsOf: url).model
    }

    /// Reads a model from a path; see ``init(contentsOf:)``.
    ///
    /// - Throws: `ModelError` with the file, and the line where there is one.
    public init(contentsOfFile path: String) throws(ModelError) {
        self = try ModelFile(contentsOfFile: path).model
    }

    /// Reads the XML of a model and checks it.
    ///
    /// - Throws: `ModelError` with the line.
    public init(xml: Data, file: String? = nil) throws(ModelError) {
        self = try ModelFile(xml: xml, file: file).model
    }
}
