// What only stores in folders have, and what there is instead for others.
//
// Threads: values.

/// What only stores in folders have.
enum FolderFeature {
    case frames, salvage, compaction, space, pastStates, backup

    /// What is said of a store that has it not.
    func refusal(of title: String) -> Failure {
        Failure("\(title): \(sentence)")
    }

    private var sentence: String {
        switch self {
        case .frames:
            "frames are what a store in a folder is made of; this one is in PostgreSQL, whose tables psql shows"
        case .salvage:
            "only stores in folders can be salvaged: of a damaged database restore a backup"
        case .compaction:
            "only stores in folders are compacted: PostgreSQL gives space back by itself (autovacuum)"
        case .space:
            "only of stores in folders it is known what each property takes: cairn info shows the sizes of this one's tables"
        case .pastStates: "only stores in folders keep past states; this one is in PostgreSQL"
        case .backup: "only stores in folders are backed up by cairn: back this one up with pg_dump"
        }
    }
}
