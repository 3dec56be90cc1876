// Features that only stores in folders have, and the alternatives for others.
//
// Threads: values.

/// A feature that only stores in folders have.
enum FolderFeature {
    case frames, salvage, compaction, space, pastStates, backup

    /// Returns the error for a store without the feature.
    func refusal(of title: String) -> Failure {
        Failure("\(title): \(sentence)")
    }

    private var sentence: String {
        switch self {
        case .frames:
            "only stores in folders consist of frames; this one is in PostgreSQL: inspect its tables with psql"
        case .salvage:
            "only stores in folders can be salvaged: restore a damaged database from a backup"
        case .compaction:
            "only stores in folders are compacted: PostgreSQL reclaims space itself (autovacuum)"
        case .space:
            "only stores in folders report the size of each property: cairn info shows the sizes of this store's tables"
        case .pastStates: "only stores in folders keep past states; this one is in PostgreSQL"
        case .backup: "cairn only backs up stores in folders: back this one up with pg_dump"
        }
    }
}
