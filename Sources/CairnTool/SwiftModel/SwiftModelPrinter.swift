// A model as Swift: one file with a class for each entity and a struct for each composite.
//
//   1. The head names the model and the command, shows how to open a store with the classes, and lists what
//      classes cannot express of the model.
//   2. Structs come first, then classes, both in the order of the model.
//   3. If a class defines less than the model, or something else, a comment above it describes the
//      difference.
//
// The same model results in the same text on every machine.

import CairnInspection
import CairnModel

/// Generates the Swift code of a model.
struct SwiftModelPrinter {
    private let source: ModelSource
    private let isPublic: Bool
    private let names: SwiftModelNames
    private let composites: SwiftComposites

    init(_ source: ModelSource, isPublic: Bool) {
        self.source = source
        self.isPublic = isPublic
        var names = SwiftModelNames(source.schema)
        var composites = SwiftComposites(source.schema, &names)
        names.nameProperties()
        composites.declareElements(names)
        self.names = names
        self.composites = composites
    }

    /// The number of structs and classes.
    var counts: (structs: Int, classes: Int) {
        (composites.definitions.count, names.classes.count)
    }

    /// The text of the file, with a line feed at its end.
    var text: String {
        let writer = SwiftClass(
            schema: source.schema, names: names, composites: composites,
            inverses: SwiftInverses(source.schema), isPublic: isPublic)
        var blocks = [head]
        if !names.classes.isEmpty {
            blocks.append([isPublic ? "public import Cairn" : "import Cairn"])
        }
        blocks += composites.blocks(of: source.model, isPublic: isPublic)
        blocks += source.schema.entities.map(writer.lines)
        return blocks.map { $0.joined(separator: "\n") + "\n" }.joined(separator: "\n")
    }

    // MARK: Head

    /// Identifies a generated file: the prefix of its second line.
    static let mark = "// Written by: cairn model "

    private var head: [String] {
        let version = source.version.map { ", version \($0)" } ?? ""
        // One line each, of any length, so that the mark is in the second.
        var lines = [
            "// The entities of \(PlainText.visible(source.name + version)), as classes.",
            Self.mark + PlainText.visible(options),
        ]
        lines += usage
        lines += unsaid
        // The file contains the model's names and long strings.
        return lines + ["// swift-format-ignore-file"]
    }

    private var options: String {
        var words = [source.name, "--swift"]
        if isPublic { words.append("--public") }
        if let version = source.version { words += ["--version", version] }
        return words.map(Self.shellWord).joined(separator: " ")
    }

    private static func shellWord(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "-"), UInt8(ascii: "+"):
                true
            default: false
            }
        }
        return isPlain && !word.isEmpty
            ? word
            : "'\(word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''"))'"
    }

    /// How to open a store. Subclasses are not found through references to them, so all classes are listed.
    private var usage: [String] {
        guard !names.classes.isEmpty else { return ["//", "// The model has no entities.", "//"] }
        let base = source.name.prefix { $0 != "." }.lowercased()
        let isStore = source.form == .store || source.form == .database
        let store = isStore ? source.name : "\(base.isEmpty ? "store" : base).cairn"
        let path = SwiftLiteral.text(store)
        let types = names.classes.map { "\($0).self," }
        let others = SwiftStorage(
            source: source.schema, names: names, composites: composites,
            inverses: SwiftInverses(source.schema)
        ).otherEntities
        if others.isEmpty, source.form != .database {
            return call(["at: \(path),"], "for: ", types, ")")
        }
        let list = others.joined(separator: ", ")
        let renamed =
            names.renamesProperties || composites.renamesElements
            ? " Read renamed properties there by the model's names, with value(forKey:)."
            : ""
        let classes = "classes: ObjectClasses(for: "
        guard !isStore else {
            let opened =
                source.form == .store
                ? "LogStore.open(at: \(path))" : "PostgresStore.open(\(path), schema: nil)"
            let lines = call(["store: \(opened),"], classes, types, "))")
            if others.isEmpty { return lines }
            return lines
                + SwiftText.comment(
                    "The store keeps its own model, because classes cannot express all of it: \(list)."
                        + renamed) + ["//"]
        }
        return call(["at: \(path),"], "for: ", types, ")")
            + SwiftText.comment(
                "A store that was created with the model itself is opened like this, because classes cannot "
                    + "express everything that is stored: \(list)." + renamed)
            + call(["at: \(path),", "model: \(model),"], classes, types, "))")
    }

    /// The code that loads the model.
    private var model: String {
        let path = SwiftLiteral.text(source.name)
        if source.form == .json {
            return "ManagedObjectModel(json: String(contentsOfFile: \(path), encoding: .utf8))"
        }
        guard let version = source.version else {
            return "ManagedObjectModel(contentsOfFile: \(path))"
        }
        return "ModelFile(contentsOfFile: \(path), version: \(SwiftLiteral.text(version))).model"
    }

    /// Returns the creation of a container, with all classes as the last argument.
    private func call(
        _ arguments: [String], _ label: String, _ types: [String], _ end: String
    ) -> [String] {
        var words = arguments + types
        words[arguments.count] = label + words[arguments.count]
        words[words.count - 1] = String(words[words.count - 1].dropLast()) + end
        let call = "let container = try PersistentContainer("
        let short = "//     " + call + words.joined(separator: " ")
        return ["//"]
            + (short.count <= SwiftText.width
                ? [short]
                : ["//     " + call]
                    + SwiftText.wrapped(words, first: "//         ", next: "//         "))
            + ["//"]
    }

    /// The parts of the model besides its entities.
    private var unsaid: [String] {
        let model = source.model
        var items = model.configurations.inKeyOrder().map { name, members in
            "configuration \(name): \(members.joined(separator: ", "))"
        }
        items += model.fetchRequestTemplates.map { template in
            let condition = template.predicateFormat.map { " where \($0)" } ?? ""
            return "fetch request \(template.name): \(template.entityName)\(condition)"
        }
        let used = Set(composites.definitions.compactMap(\.modelName))
        items += model.composites.map(\.name).filter { !used.contains($0) }.map {
            "composite \($0), which cannot be a struct, or is not used by an attribute"
        }
        if items.isEmpty { return [] }
        return SwiftText.comment(
            "What the model contains besides its entities, and classes do not:")
            + items.flatMap(SwiftText.item) + ["//"]
    }
}
