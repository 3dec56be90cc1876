// Removes values of objects, and names of people and machines, from a report on request.
//
// It removes: values in the history and in the metadata, the authors of commits (each author has a number
// instead), the folder of the store, and host, database, users and addresses. It keeps: the model with all
// its names and defaults, numbers of objects and commits, times, and names of programs.
//
// Threads: one; it counts the authors.

import CairnInspection
import CairnModel
import CairnStore
import SystemPackage

/// Removes values and names from a report.
struct Redaction {
    /// The replacement for removed text.
    static let gap = "left out"

    /// The keys in the output of `cairn info` that name people and machines.
    private static let names: Set<String> = ["host", "user", "address", "database"]

    /// Whether anything is removed.
    let isOn: Bool
    /// The store's place for output.
    private let place: String
    private var authors: [String: Int] = [:]

    init(isOn: Bool, place: String) {
        self.isOn = isOn
        self.place = place
    }

    /// The name of the store.
    var title: String {
        guard isOn else { return place }
        if DatabaseURL.isOne(place) { return DatabaseURL.anything }
        return place.split(separator: "/").last.map(String.init) ?? "a store"
    }

    /// Returns a sentence that may name the store: by its title, if anything is removed.
    func sentence(_ text: String) -> String {
        guard isOn, place.count > 1 else { return text }
        // Errors name a folder in its normalized form.
        return [place, FilePath(place).string].reduce(text) { $0.replacing($1, with: title) }
    }

    /// Returns the message of an error, without values and the store's place if anything is removed.
    func sentence(_ error: any Error) -> String {
        // Without its details: they may contain a value.
        if isOn, var error = error as? StoreError {
            error.context.detail = nil
            error.conflicts = []
            error.details = []
            return sentence(Failure(error)?.message ?? error.message)
        }
        return sentence(Failure(error)?.message ?? "\(error)")
    }

    /// Returns a value of an object, or its replacement if anything is removed.
    func value(_ text: String) -> String { isOn ? Self.gap : text }

    /// Returns the author of a commit, by a number if anything is removed.
    mutating func author(_ name: String) -> String {
        guard isOn else { return name }
        let number = authors[name] ?? authors.count + 1
        authors[name] = number
        return "author \(number)"
    }

    /// Returns the output of `cairn info`, without names and values if anything is removed.
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
