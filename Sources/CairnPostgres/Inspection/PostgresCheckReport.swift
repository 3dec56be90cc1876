// What a check of a store in a database covered, and what it found.

package import CairnStore

/// What a check of a store in a database covered, and what it found.
package struct PostgresCheckReport: Sendable {
    /// The commit whose state was looked at.
    package var commit: UInt64 = 0
    package var tables = 0
    package var rows = 0
    package var pairs = 0
    /// Uniqueness constraints, each looked for in its index and in the rows.
    package var constraints = 0
    /// To-one relationships that lead to an object.
    package var references = 0
    package var redirects = 0
    /// Of the history.
    package var transactions = 0
    /// What is wrong, as far as it is listed.
    package var findings: [StoreError] = []
    /// How much is wrong.
    package var findingCount = 0

    /// How much is listed at most.
    private static let mostFindings = 1000

    package init() {}

    /// Notes that something is wrong.
    mutating func note(_ message: String, entity: String? = nil, key: String? = nil) {
        findingCount += 1
        guard findings.count < Self.mostFindings else { return }
        findings.append(StoreError(.damaged, message, context: .init(entity: entity, key: key)))
    }

    /// Notes an error that looking at something gave.
    mutating func note(_ error: StoreError) {
        findingCount += 1
        if findings.count < Self.mostFindings { findings.append(error) }
    }
}
