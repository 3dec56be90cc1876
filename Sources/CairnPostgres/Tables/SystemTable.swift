// The tables of the store itself.

/// A table that has no objects.
enum SystemTable: String, CaseIterable {
    /// One row: identifier, model, version of the layout, number of the last commit.
    case store = "cairn_store"
    /// What stands for which entity in the rows.
    case entities = "cairn_entities"
    /// By hierarchy: the next block of numbers.
    case numbers = "cairn_numbers"
    /// What the program keeps with the store.
    case metadata = "cairn_metadata"
    /// Which objects were folded into which.
    case redirects = "cairn_redirects"
    /// Who committed, and when.
    case transactions = "cairn_transactions"
    /// What each commit did to which object.
    case changes = "cairn_changes"
    /// Which transactions were committed of whose end somebody may have to be told by another connection.
    case tokens = "cairn_tokens"
    /// Who reads the history, and how far.
    case consumers = "cairn_consumers"
}
