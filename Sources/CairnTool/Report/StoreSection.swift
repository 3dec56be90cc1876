// The description of the store from the JSON of `cairn info`: each value with its key in words, for any kind.

import CairnInspection

/// The parts of a report about the store itself.
struct StoreSection {
    /// The keys that other parts of a report show.
    private static let elsewhere: Set<String> = [
        "store", "entities", "segments", "checkpoints", "tables", "fetchIndexes", "metadata",
        "damage",
    ]

    private let content: ReportContent
    private var members: [JSONValue.Member] {
        if case .object(let members) = content.information { members } else { [] }
    }

    init(_ content: ReportContent) { self.content = content }

    /// Writes the known facts about the store, and the processes that have it open.
    func write(_ writer: inout HTMLWriter) {
        writer.add("dl") { writer in
            for member in members where !Self.elsewhere.contains(member.key) {
                // Usually it is the same.
                if member.key == "called", member.value == content.information["id"] { continue }
                switch member.value {
                case .null, .array: continue
                default:
                    writer.add("dt", Self.label(member.key))
                    writer.add("dd", Self.words(member.value, of: member.key))
                }
            }
        }
        for damage in content.information["damage"]?.elements ?? [] {
            writer.add("p", ["class": "missing"], Self.words(damage))
        }
        table("users", "Programs that have the store open", &writer)
        table("connections", "Connections to the database", &writer)
        table("tables", "Tables", &writer)
    }

    /// Writes the files of a store in a folder.
    func writeFiles(_ writer: inout HTMLWriter) {
        table("segments", "Segments", &writer)
        table("checkpoints", "Checkpoints", &writer)
    }

    /// Writes the programs' metadata.
    func writeMetadata(_ writer: inout HTMLWriter) {
        guard let metadata = content.information["metadata"], case .object(let members) = metadata
        else {
            return writer.add("p", ["class": "missing"], "The metadata could not be read.")
        }
        if members.isEmpty { return writer.add("p", "No program keeps anything with the store.") }
        var table = ReportTable("Metadata", [.init("key"), .init("value")])
        for member in members { table.add([.init(member.key), .init(Self.words(member.value))]) }
        table.write(to: &writer)
    }

    /// Writes an array of objects as a table with their keys as columns.
    private func table(_ key: String, _ caption: String, _ writer: inout HTMLWriter) {
        let elements = content.information[key]?.elements ?? []
        guard case .object(let first)? = elements.first else { return }
        // A key without a value in any of them has no column.
        let keys = first.map(\.key).filter { key in
            elements.contains { $0[key].map { $0 != .null } ?? false }
        }
        var table = ReportTable(
            caption,
            keys.map { key in
                .init(
                    Self.label(key), elements.contains { $0[key]?.number != nil } ? .number : .text)
            })
        for element in elements {
            table.add(keys.map { key in .init(element[key].map { Self.words($0, of: key) } ?? "") })
        }
        table.write(to: &writer)
    }

    // MARK: Words

    /// Labels for keys that are unclear by themselves.
    private static let labels = [
        "id": "identifier", "called": "identifier in the metadata", "closed": "was closed",
        "mark": "known to be durable", "writer": "written to by process",
        "needsRecovery": "opening needs recovery",
    ]

    /// Returns the words of a key: `bytesLeftBehind` is "bytes left behind".
    static func label(_ key: String) -> String {
        if let label = labels[key] { return label }
        return key.reduce(into: "") { label, character in
            label += character.isUppercase ? " \(character.lowercased())" : "\(character)"
        }
    }

    /// Returns a value in words.
    static func words(_ value: JSONValue, of key: String = "") -> String {
        switch value {
        case .null: return ""
        case .boolean(let truth): return truth ? "yes" : "no"
        case .string(let text): return PlainText.visible(text)
        case .integer(let number):
            // The number of a process, a layout or a format is a name.
            let isName = ["process", "writer", "format", "layout", "number"].contains(key)
            if isName { return "\(number)" }
            let isSize = key == "bytes" || key.hasSuffix("Bytes") || key.hasPrefix("bytes")
            return isSize && number >= 0
                ? PlainText.bytes(UInt64(number)) : PlainText.number(number)
        case .date(let seconds):
            return words(.string(unquoted(JSONValue.date(seconds.rounded(.down)).line)))
        case .double, .float: return value.line
        case .array(let values): return values.map { words($0) }.joined(separator: ", ")
        case .object(let members):
            return members.map { member in
                let words = words(member.value, of: member.key)
                // A number of bytes needs no label.
                return member.key == "bytes" ? words : "\(label(member.key)) \(words)"
            }.joined(separator: ", ")
        }
    }

    private static func unquoted(_ text: String) -> String {
        text.hasPrefix("\"") ? String(text.dropFirst().dropLast()) : text
    }
}
