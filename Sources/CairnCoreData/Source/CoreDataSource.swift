// A store of Core Data, open to be read: its tables, what it says of itself, and its entities' numbers.
//
// Numbers of entities from 16001 on are Core Data's own: the history of transactions.

import CairnModel
import FoundationEssentials

/// An entity as the store numbers it.
struct SourceEntity: Sendable {
    let number: Int
    let name: String
    /// The number of the entity that it inherits from; 0 for none.
    let parent: Int
    /// The highest primary key that was given; kept for the top of a hierarchy.
    let highest: Int64
}

/// A store of Core Data.
final class CoreDataSource {
    /// From here on entities are Core Data's own.
    static let firstOwnEntity = 16_001

    /// The path that was given.
    let path: String
    let file: SQLiteFile
    let metadata: SourceMetadata
    /// The entities of the model.
    let entities: [SourceEntity]
    /// The columns of every table, by the table's name.
    let tables: [String: [String]]
    /// The types that the columns declare, in capitals, by table and column.
    let types: [String: [String: String]]
    /// Bytes of the log that belongs to it.
    let logBytes: UInt64
    /// What of that log is not read, as a sentence; nil if all of it is.
    let logDamage: String?

    /// - Parameter folder: an empty folder for copies.
    init(path: String, workingIn folder: String) throws(CoreDataImportError) {
        self.path = path
        let copy = try SourceCopy(of: path, in: folder)
        logBytes = copy.logBytes
        logDamage = copy.logDamage
        file = try SQLiteFile(path: copy.path, name: path, isCopy: copy.isCopy)
        (tables, types) = try Self.tables(of: file)
        for name in ["Z_METADATA", "Z_PRIMARYKEY"] where tables[name] == nil {
            throw CoreDataImportError(
                .notAStore,
                "it is not a Core Data store: it has no table \(name)"
                    + (logDamage.map { "; \(path)-wal: \($0)" } ?? ""), at: path)
        }
        if let damage = try file.damage() {
            throw CoreDataImportError(
                .damaged, "the SQLite file is damaged: \(damage)", at: path)
        }
        metadata = try SourceMetadata(of: file)
        entities = try Self.entities(of: file)
    }

    private static func tables(of file: SQLiteFile) throws(CoreDataImportError)
        -> ([String: [String]], [String: [String: String]])
    {
        let list = try file.prepare(
            "SELECT name FROM sqlite_master WHERE type = 'table'", at: "sqlite_master")
        var tables: [String: [String]] = [:]
        var types: [String: [String: String]] = [:]
        while try list.step() {
            guard case .text(let table) = list[0] else { continue }
            let info = try file.prepare(
                "PRAGMA table_info(\(SQLiteFile.quoted(table)))", at: table)
            var columns: [String] = []
            while try info.step() {
                guard case .text(let column) = info[1] else { continue }
                columns.append(column)
                if case .text(let type) = info[2] {
                    types[table, default: [:]][column] = type.uppercased()
                }
            }
            tables[table] = columns
        }
        return (tables, types)
    }

    private static func entities(of file: SQLiteFile) throws(CoreDataImportError) -> [SourceEntity]
    {
        let list = try file.prepare(
            "SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT",
            at: "Z_PRIMARYKEY")
        var entities: [SourceEntity] = []
        while try list.step() {
            guard let number = list.integer(0), let known = Int32(exactly: number),
                case .text(let name) = list[1]
            else {
                throw CoreDataImportError(
                    .damaged, "a row lacks the number or the name of an entity",
                    at: "\(file.name), Z_PRIMARYKEY")
            }
            guard known < firstOwnEntity else { continue }
            entities.append(
                SourceEntity(
                    number: Int(known), name: name,
                    parent: Int(truncatingIfNeeded: list.integer(2) ?? 0),
                    highest: list.integer(3) ?? 0))
        }
        return entities
    }

    // MARK: The model that it keeps

    /// What the store has of its own model.
    enum CachedModel {
        case none
        /// There is something, and it is no model.
        case unreadable
        case model(ArchivedModel)
    }

    func cachedModel() throws(CoreDataImportError) -> CachedModel {
        guard tables["Z_MODELCACHE"]?.contains("Z_CONTENT") == true else { return .none }
        let statement = try file.prepare("SELECT Z_CONTENT FROM Z_MODELCACHE", at: "Z_MODELCACHE")
        var result = CachedModel.none
        while try statement.step() {
            guard case .blob(let bytes) = statement[0] else { continue }
            // Stores of some versions have it as it is.
            if let archive = KeyedArchive(Inflate.unpacked(bytes) ?? bytes),
                let model = ArchivedModel(archive)
            {
                return .model(model)
            }
            result = .unreadable
        }
        return result
    }

    // MARK: What is not brought over

    /// The transactions of the store's history.
    func historyCount() throws(CoreDataImportError) -> Int64 {
        guard tables["ATRANSACTION"] != nil else { return 0 }
        return try file.number("SELECT COUNT(*) FROM ATRANSACTION", at: "ATRANSACTION") ?? 0
    }

    /// Tables that Core Data keeps for the synchronisation with iCloud.
    var cloudTables: [String] { tables.keys.filter { $0.hasPrefix("ANSCK") }.sorted() }

    // MARK: External values

    /// The content of a file that holds a value; nil if it is not there.
    func externalValue(_ name: String) -> [UInt8]? {
        // The name comes out of the file: it must not lead anywhere else.
        guard !name.isEmpty, name.utf8.allSatisfy(Self.isPlain) else { return nil }
        for folder in externalFolders {
            if let data = try? Data(contentsOf: URL(filePath: "\(folder)/\(name)")) {
                return Array(data)
            }
        }
        return nil
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// Where values of their own files may be: beside the store, under its name without the ending.
    private(set) lazy var externalFolders: [String] = {
        let slash = path.lastIndex(of: "/")
        let folder = slash.map { String(path[...$0]) } ?? ""
        let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
        var names = [name]
        if let dot = name.lastIndex(of: "."), dot > name.startIndex {
            names.insert(String(name[..<dot]), at: 0)
        }
        return names.map { "\(folder).\($0)_SUPPORT/_EXTERNAL_DATA" }
    }()
}
