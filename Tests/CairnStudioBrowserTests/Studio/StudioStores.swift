// Stores for the studio to show, made by the tool in a test's own folder.

import CairnTestSupport
import Foundation
import PostgresServers
import Testing

/// A folder with a store.
struct StudioStore {
    let folder: TemporaryDirectory
    let path: String

    private init(_ folder: TemporaryDirectory) {
        self.folder = folder
        path = folder.path("shown.cairn")
    }

    /// The store of README's first command, with a history and past states: imported in two versions, years apart.
    static func quickstart() throws -> StudioStore {
        let folder = try TemporaryDirectory()
        try StudioProcess.cairn("quickstart", folder.path)
        let store = StudioStore(folder)
        let constraints = ["--entity", "Airport", "--unique", "icao", "--unique", "iata"]
        try store.run("import", "airports-2010.csv", constraints)
        try StudioProcess.cairn("history", store.path, "--keep")
        try StudioProcess.cairn("past", store.path, "--keep", "all")
        try store.run("import", "airports-2024.csv", ["--entity", "Airport"])
        return store
    }

    /// Shops and what they sell: two entities and a relationship.
    static func shops() throws -> StudioStore {
        let store = StudioStore(try TemporaryDirectory())
        try store.write("model.xml", shopModel)
        try store.write("shops.csv", "name,city\nEast,Graz\nWest,Bern\n")
        try store.write(
            "items.csv",
            "name,price,shop\n"
                + (0..<500).map { "item \($0),\($0 % 90),\($0 % 3 == 0 ? "East" : "West")\n" }
                .joined()
        )
        try store.run(
            "import", "shops.csv", ["--entity", "Shop", "--model", store.folder.path("model.xml")])
        try store.run("import", "items.csv", ["--entity", "Item"])
        return store
    }

    /// A store of Core Data in the corpus.
    static func corpus(_ name: String) throws -> StudioStore {
        let store = StudioStore(try TemporaryDirectory())
        // Reading a store with a log beside it may change its files.
        for suffix in ["", "-wal"] {
            let file = Corpus.url("coredata-sqlite/\(name).sqlite\(suffix)")
            guard FileManager.default.fileExists(atPath: file.path) else { continue }
            try FileManager.default.copyItem(
                at: file, to: store.folder.url("\(name).sqlite\(suffix)"))
        }
        _ = try? StudioProcess.cairn(
            "import-coredata", store.folder.path("\(name).sqlite"), store.path)
        try #require(FileManager.default.fileExists(atPath: store.path))
        return store
    }

    /// Writes a file beside the store.
    @discardableResult
    func write(_ name: String, _ text: String) throws -> String {
        try Data(text.utf8).write(to: folder.url(name))
        return folder.path(name)
    }

    /// Imports a file beside the store, as another program does while the studio shows it.
    func run(_ command: String, _ file: String, _ arguments: [String]) throws {
        let tool = try #require(StudioProcess.tool)
        _ = try ServerProcess.run([tool, command, path, folder.path(file)] + arguments)
    }

    private static let shopModel = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
          <entity name="Shop">
            <attribute name="name" attributeType="String"/>
            <attribute name="city" optional="YES" attributeType="String"/>
            <relationship name="items" optional="YES" toMany="YES" deletionRule="Nullify" \
        destinationEntity="Item" inverseName="shop" inverseEntity="Item"/>
            <uniquenessConstraints><uniquenessConstraint><constraint value="name"/>\
        </uniquenessConstraint></uniquenessConstraints>
          </entity>
          <entity name="Item">
            <attribute name="name" attributeType="String"/>
            <attribute name="price" optional="YES" attributeType="Integer 64" usesScalarValueType="YES"/>
            <relationship name="shop" optional="YES" maxCount="1" deletionRule="Nullify" \
        destinationEntity="Shop" inverseName="items" inverseEntity="Shop"/>
            <uniquenessConstraints><uniquenessConstraint><constraint value="name"/>\
        </uniquenessConstraint></uniquenessConstraints>
          </entity>
        </model>
        """
}
