// The store kinds that a tool supports.
//
//   1. Each kind in turn is asked whether it owns a place; a place that no kind owns is a folder.
//   2. If a database's place belongs to no known kind, the tool that supports it gets the whole command line,
//      before anything is read or written.
//   3. Places may contain passwords, so their titles are shown instead.
//
// Threads: values.

import CairnStore

/// The store kinds that a tool supports.
package struct StoreKinds: Sendable {
    /// The kinds for the running command.
    @TaskLocal static var current = StoreKinds()

    private let others: [any StoreKind]
    private let handover: Handover?

    /// - Parameters:
    ///   - others: all kinds except stores in folders.
    ///   - handover: receives command lines about stores in databases; nil: none.
    package init(_ others: [any StoreKind] = [], handover: Handover? = nil) {
        self.others = others
        self.handover = handover
    }

    /// Returns the kind of a place.
    ///
    /// - Throws: `Failure` if it is in a database and the tool supports none.
    func kind(of place: String) throws -> any StoreKind {
        if let kind = others.first(where: { $0.owns(place) }) { return kind }
        guard DatabaseURL.isOne(place) else { return FolderKind() }
        throw Failure(Handover.Recipient.postgres.advice)
    }

    /// Returns a place for output, whether the tool supports its kind or not.
    func title(of place: String) -> String {
        (try? kind(of: place))?.title(of: place) ?? DatabaseURL.anything
    }

    /// Ensures that stores at these places can be opened: if this tool cannot open them, another one gets the
    /// command line, and this function does not return.
    func prepare(_ places: [String], arguments: [String]) throws {
        let isForeign = places.contains { place in
            DatabaseURL.isOne(place) && !others.contains { $0.owns(place) }
        }
        if isForeign { try handover?.run(arguments) }
    }

    /// Returns a text without the secrets of arguments that it may contain.
    func hidingSecrets(of arguments: [String], in text: String) -> String {
        var text = text
        for argument in arguments {
            guard let url = DatabaseURL.found(in: argument) else { continue }
            let title = others.first { $0.owns(url) }?.title(of: url) ?? DatabaseURL.anything
            text = text.replacing(url, with: title)
        }
        return text
    }
}

/// Recognizes places in a database.
package enum DatabaseURL {
    /// The title of a place without a known kind.
    package static let anything = "postgresql://…"

    private static let schemes = ["postgresql://", "postgres://"]

    /// Returns whether a place is in a database.
    package static func isOne(_ place: String) -> Bool { schemes.contains(where: place.hasPrefix) }

    /// Throws if a place that must be a folder is in a database.
    static func refuse(_ place: String, for what: String) throws {
        guard isOne(place) else { return }
        throw Failure("\(StoreKinds.current.title(of: place)): \(what) requires a folder")
    }

    /// Returns the place in an argument such as --to=postgresql://…
    static func found(in argument: String) -> String? {
        let start = schemes.compactMap { argument.firstRange(of: $0)?.lowerBound }.min()
        return start.map { String(argument[$0...]) }
    }
}
