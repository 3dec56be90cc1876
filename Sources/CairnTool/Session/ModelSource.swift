// The model for a command: from a store, an Xcode file, or JSON.

import CairnInspection
import CairnModel
import FoundationEssentials

/// A checked model, and its source.
struct ModelSource {
    /// The kind of its source.
    enum Form {
        case store, database, xcode, json
    }

    let form: Form
    let schema: Schema
    /// The last part of the path, without the file inside a model's folder; for a store in a database the
    /// title of the whole place.
    let name: String
    /// The version's name, if there are several.
    let version: String?
    let warnings: [ModelWarning]

    var model: ManagedObjectModel { schema.model }

    init(
        _ form: Form, schema: Schema, name: String, version: String? = nil,
        warnings: [ModelWarning] = []
    ) {
        self.form = form
        self.schema = schema
        self.name = name
        self.version = version
        self.warnings = warnings
    }

    /// Reads the model at a path.
    static func read(_ path: String, version: String?) throws -> ModelSource {
        if try DatabaseURL.isOne(path) || StoreSession.isStore(path) {
            guard version == nil else {
                throw Failure("a store has only one model: omit --version", code: .usage)
            }
            return try StoreSession.reading(path) {
                DatabaseURL.isOne(path)
                    ? ModelSource(.database, schema: $0.schema, name: $0.path)
                    : ModelSource(.store, schema: $0.schema, name: name(of: path))
            }
        }
        if let kind = FileSignature.ofFile(path) {
            let advice =
                kind.isPacked
                ? "unpack it first"
                : "a model is a .xcdatamodeld or .xcdatamodel folder, its XML, a .json file with a"
                    + " model, or a store's folder"
            throw Failure("\(path): this is \(kind.name), not a model: \(advice)")
        }
        if let json = try jsonText(path) {
            guard version == nil else {
                throw Failure("a JSON file has only one model: omit --version", code: .usage)
            }
            return ModelSource(.json, schema: try schema(json: json, path), name: name(of: path))
        }
        let versions = try ModelVersions(contentsOfFile: path, choosing: version)
        let chosen = version ?? versions.currentName
        let file = try versions.read(chosen)
        return ModelSource(
            .xcode, schema: file.schema, name: name(of: path),
            version: versions.names.count > 1 ? chosen : nil, warnings: file.warnings)
    }

    private static func name(of path: String) -> String {
        let parts = path.split(separator: "/")
        guard let last = parts.last else { return path }
        return String(last == "contents" ? parts.dropLast().last ?? last : last)
    }

    // MARK: JSON

    /// The maximum size of a model in any form, in bytes.
    private static let sizeLimit = 64 << 20

    /// Returns the text of a file whose name implies JSON; nil for all others.
    private static func jsonText(_ path: String) throws -> String? {
        var isFolder = false
        guard path.hasSuffix(".json"),
            FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder
        else { return nil }
        do {
            let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? UInt64
            guard size ?? 0 <= UInt64(sizeLimit) else {
                throw Failure(
                    "\(path): it has \(size ?? 0) bytes, but a model can have at most \(sizeLimit)")
            }
            return String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure("\(path): the file cannot be read: \(error)")
        }
    }

    private static func schema(json: String, _ path: String) throws -> Schema {
        let model: ManagedObjectModel
        do {
            model = try ManagedObjectModel(strictlyReading: json)
        } catch {
            throw Failure("\(path): this is not a model in JSON: \(reason(error))")
        }
        do throws(ModelError) {
            return try Schema(model)
        } catch {
            throw Failure("\(path): \(error)")
        }
    }

    /// Returns a decoder's error on one line.
    private static func reason(_ error: any Error) -> String {
        guard let error = error as? DecodingError else { return "\(error)" }
        switch error {
        case .typeMismatch(_, let context), .valueNotFound(_, let context),
            .dataCorrupted(let context):
            return place(context.codingPath) + context.debugDescription
        case .keyNotFound(let key, let context):
            return place(context.codingPath) + "the key \(key.stringValue) is missing"
        @unknown default: return "\(error)"
        }
    }

    private static func place(_ path: [any CodingKey]) -> String {
        let steps = path.map { key in key.intValue.map { "\($0)" } ?? key.stringValue }
        return steps.isEmpty ? "" : steps.joined(separator: ".") + ": "
    }
}
