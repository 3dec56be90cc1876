// The file of a mapping model: its contents without the source and destination models.
//
//   1. The text becomes objects by their ids.
//   2. One of them is the mapping model. Those that it leads to count: Xcode leaves others behind.
//
// Threads: a value.

import FoundationEssentials

/// The file of an Xcode mapping model.
package struct MappingModelFile: Sendable {
    /// What errors call it.
    let name: String?
    /// Its objects by their ids.
    let objects: [String: MappingFileObject]
    /// The mapping model among them.
    let model: MappingFileObject

    /// Reads a file.
    ///
    /// - Parameter path: the `.xcmappingmodel` folder, or the `xcmapping.xml` in it.
    /// - Throws: `ModelError` with the file and the line: it is not there, or no mapping model.
    package init(contentsOfFile path: String) throws(ModelError) {
        let file = try Self.file(path)
        let bytes = try ModelVersions.bytes(of: file)
        if bytes.starts(with: "bplist".utf8) {
            throw ModelError(
                .unreadable,
                "this is a compiled mapping model: use the .xcmappingmodel that it was compiled from",
                file: file)
        }
        try self.init(xml: bytes, name: file)
    }

    /// Reads the XML of a file.
    init(xml: Data, name: String?) throws(ModelError) {
        self.name = name
        let root = try ElementParser.parse(xml, file: name, keepsText: true)
        do throws(ModelError) {
            objects = try Self.objects(of: root)
            model = try Self.model(among: objects, root)
        } catch {
            throw ModelLines().place(error, file: name)
        }
    }

    /// Where the old model was when the file was made, such as Shop/Shop.xcdatamodeld/Shop 1.xcdatamodel; nil if it is not said.
    package var sourceModelPath: String? { model.text("sourcemodelpath") }

    /// Where the new model was.
    package var destinationModelPath: String? { model.text("destinationmodelpath") }

    /// The mapping model, checked against both models.
    ///
    /// - Parameter policy: gives the class of a policy by the name in the file; nil: no class is looked for.
    /// - Throws: `ModelError` with the file, the line, and the mapping and property.
    package func mapping(
        from old: Schema, to new: Schema, policy: ((String) -> (any MappingCode)?)?
    ) throws(ModelError) -> MappingModel {
        try MappingModelReader.read(self, from: old, to: new, policy: policy)
    }

    /// The XML file of a mapping model's folder, or the file itself.
    private static func file(_ path: String) throws(ModelError) -> String {
        guard let isFolder = ModelVersions.isFolder(path) else {
            throw ModelError(.unreadable, "there is no such file or folder", file: path)
        }
        guard isFolder else { return path }
        var folder = path
        while folder.count > 1, folder.hasSuffix("/") { folder.removeLast() }
        let file = folder + "/xcmapping.xml"
        guard ModelVersions.isFolder(file) == false else {
            throw ModelError(
                .unreadable, "the folder has no xcmapping.xml: it is not a mapping model",
                file: path)
        }
        return file
    }

    private static func objects(of root: ModelElement) throws(ModelError)
        -> [String: MappingFileObject]
    {
        guard root.name == "database" else {
            throw ModelError(
                .malformed, "this is not a mapping model: the root element is \(root.name)",
                line: root.line)
        }
        var objects: [String: MappingFileObject] = [:]
        for element in root.children where element.name == "object" {
            let object = try MappingFileObject(element)
            guard objects.updateValue(object, forKey: object.id) == nil else {
                throw ModelError(
                    .duplicateName, "the file has two objects with this id", element: object.id,
                    line: object.line)
            }
        }
        return objects
    }

    private static func model(among objects: [String: MappingFileObject], _ root: ModelElement)
        throws(ModelError) -> MappingFileObject
    {
        let models = objects.values.filter { $0.kind == .model }
        guard models.count == 1, let model = models.first else {
            throw ModelError(
                .malformed,
                models.isEmpty
                    ? "there is no mapping model in the file"
                    : "there are \(models.count) mapping models in the file", line: root.line)
        }
        return model
    }
}
