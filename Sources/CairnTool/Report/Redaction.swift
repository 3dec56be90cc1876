// What of a report's words are values of objects, or names of people and machines, and is left out if that is asked for.
//
// Left out: values in the history and in the metadata, who committed (each author has a number instead), the folder that the
// store is in, and host, database, users and addresses. What stays: the model with all its names and defaults, numbers of
// objects and commits, times, and names of programs.
//
// Threads: one; it counts the authors.

import CairnInspection
import CairnModel
import CairnStore
import SystemPackage

/// Leaves values and names out of a report.
struct Redaction {
    /// What stands where something was left out.
    static let gap = "left out"

    /// Keys of what `cairn info` prints that name people and machines.
    private static let names: Set<String> = ["host", "user", "address", "database"]

    /// Whether anything is left out.
    let isOn: Bool
    /// Where the store is, as that is shown.
    private let place: String
    private var authors: [String: Int] = [:]

    init(isOn: Bool, place: String) {
        self.isOn = isOn
        self.place = place
    }

    /// What the store is called.
    var title: String {
        guard isOn else { return place }
        if DatabaseURL.isOne(place) { return DatabaseURL.anything }
        return place.split(separator: "/").last.map(String.init) ?? "a store"
    }

    /// A sentence that may name the store.
    func sentence(_ text: String) -> String {
        guard isOn, place.count > 1 else { return text }
        // Errors name a folder in its shortest spelling.
        return [place, FilePath(place).string].reduce(text) { $0.replacing($1, with: title) }
    }

    /// What an error says.
    func sentence(_ error: any Error) -> String {
        // Without what it is about: that may be a value.
        if isOn, var error = error as? StoreError {
            error.context.detail = nil
            error.conflicts = []
            error.details = []
            return sentence(Failure(error)?.message ?? error.message)
        }
        return sentence(Failure(error)?.message ?? "\(error)")
    }

    /// A value of an object.
    func value(_ text: String) -> String { isOn ? Self.gap : text }

    /// Who committed.
    mutating func author(_ name: String) -> String {
        guard isOn else { return name }
        let number = authors[name] ?? authors.count + 1
        authors[name] = number
        return "author \(number)"
    }

    /// What `cairn info` prints.
    mutating func information(_ value: JSONValue) -> JSONValue {
        guard isOn else { return value }
        switch value {
        case .object(let members):
            return .object(
                members.map { .init(key: $0.key, value: information($0.value, of: $0.key)) })
        case .array(let elements): return .array(elements.map { information($0) })
        case .string(let text): return .string(sentence(text))
        default: return value
        }
    }

    private mutating func information(_ value: JSONValue, of key: String) -> JSONValue {
        switch (key, value) {
        case (_, .null): return .null
        case ("lastAuthor", .string(let name)): return .string(author(name))
        case ("metadata", .object(let members)):
            return .object(members.map { .init(key: $0.key, value: .string(Self.gap)) })
        case _ where Self.names.contains(key): return .string(Self.gap)
        default: return information(value)
        }
    }
}
