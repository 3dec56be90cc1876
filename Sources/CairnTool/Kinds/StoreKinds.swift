// The kinds of stores that a tool knows.
//
//   1. Each kind in turn is asked whether it owns a place; a place that none owns is a folder.
//   2. If a database's place belongs to no known kind, the whole command line is handed over to the tool that knows it,
//      before anything is read or written.
//   3. Places may contain passwords, so their titles are shown instead.
//
// Threads: values.

import CairnStore

/// The kinds of stores that a tool knows.
package struct StoreKinds: Sendable {
    /// Those of the command that is running.
    @TaskLocal static var current = StoreKinds()

    private let others: [any StoreKind]
    private let handover: Handover?

    /// - Parameters:
    ///   - others: all kinds but stores in folders.
    ///   - handover: who gets command lines about stores in databases; nil: nobody.
    package init(_ others: [any StoreKind] = [], handover: Handover? = nil) {
        self.others = others
        self.handover = handover
    }

    /// The kind of a place.
    ///
    /// - Throws: `Failure` if it is in a database and the tool knows none.
    func kind(of place: String) throws -> any StoreKind {
        if let kind = others.first(where: { $0.owns(place) }) { return kind }
        guard DatabaseURL.isOne(place) else { return FolderKind() }
        throw Failure(Handover.Recipient.postgres.advice)
    }

    /// A place as it is shown, whether the tool knows its kind or not.
    func title(of place: String) -> String {
        (try? kind(of: place))?.title(of: place) ?? DatabaseURL.anything
    }

    /// Sees to it that stores at these places can be opened: where this tool cannot, another one gets the command line, and
    /// this does not return.
    func prepare(_ places: [String], arguments: [String]) throws {
        let isForeign = places.contains { place in
            DatabaseURL.isOne(place) && !others.contains { $0.owns(place) }
        }
        if isForeign { try handover?.run(arguments) }
    }

    /// A text that may have arguments of the command line in it, without what is secret in those.
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

/// What says that a place is in a database.
package enum DatabaseURL {
    /// What is shown of a place of which nothing is known.
    package static let anything = "postgresql://…"

    private static let schemes = ["postgresql://", "postgres://"]

    /// Whether a place is in a database.
    package static func isOne(_ place: String) -> Bool { schemes.contains(where: place.hasPrefix) }

    /// Refuses a place for something that can only be put into a folder.
    static func refuse(_ place: String, for what: String) throws {
        guard isOne(place) else { return }
        throw Failure("\(StoreKinds.current.title(of: place)): \(what) requires a folder")
    }

    /// The place in an argument such as --to=postgresql://…
    static func found(in argument: String) -> String? {
        let start = schemes.compactMap { argument.firstRange(of: $0)?.lowerBound }.min()
        return start.map { String(argument[$0...]) }
    }
}
