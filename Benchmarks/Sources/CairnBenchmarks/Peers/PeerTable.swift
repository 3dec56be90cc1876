// All peers, in the order of the report.

/// One column of the report.
struct PeerEntry: Sendable {
    let name: String
    let title: String
    let type: any Peer.Type
    /// The peer whose files it works on, so that they are made once.
    let filledBy: String

    private init(_ name: String, _ title: String, _ type: any Peer.Type, filledBy: String? = nil) {
        self.name = name
        self.title = title
        self.type = type
        self.filledBy = filledBy ?? name
    }

    /// Whether the size of its cache can be set.
    var hasCacheSetting: Bool { type == CairnPeer.self }

    /// What everything is held against.
    static let base = "sqlite"
    /// The column of the physical limits.
    static let machine = "machine"

    static let all = [
        PeerEntry("sqlite", "SQLite, C API", SQLitePeer.self),
        PeerEntry("cairn", "Cairn, engine level", CairnPeer.self),
        PeerEntry(
            "cairn-objects", "Cairn, managed objects", CairnObjectPeer.self, filledBy: "cairn"),
        PeerEntry("core-data", "Cairn, Core Data's names", CoreDataPeer.self),
        PeerEntry("grdb", "GRDB, statements", GRDBPeer.self),
        PeerEntry("grdb-records", "GRDB, Codable records", GRDBRecordPeer.self, filledBy: "grdb"),
        PeerEntry("lmdb", "LMDB", LMDBPeer.self),
        PeerEntry("rocksdb", "RocksDB", RocksDBPeer.self),
    ]

    static func named(_ name: String) -> PeerEntry? { all.first { $0.name == name } }
}
