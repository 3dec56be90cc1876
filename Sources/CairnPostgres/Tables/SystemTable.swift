// The store's own tables.

/// A table without objects.
enum SystemTable: String, CaseIterable {
    /// One row: identifier, model, version of the layout, number of the last commit.
    case store = "cairn_store"
    /// The codes of entities in the rows.
    case entities = "cairn_entities"
    /// The next block of numbers of each hierarchy.
    case numbers = "cairn_numbers"
    /// The program's metadata.
    case metadata = "cairn_metadata"
    /// Which objects were merged into which.
    case redirects = "cairn_redirects"
    /// The author and time of each commit.
    case transactions = "cairn_transactions"
    /// The changes of each commit to each object.
    case changes = "cairn_changes"
    /// Committed transactions whose outcome another connection may have to query.
    case tokens = "cairn_tokens"
    /// The readers of the history, and their positions.
    case consumers = "cairn_consumers"
}
