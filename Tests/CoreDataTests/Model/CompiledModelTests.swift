// Compiled models, as Xcode writes them: archives of model objects.

import CoreData
import Testing

/// What is archived under the name of one of Core Data's classes. Foundation on Linux archives no other
/// names than Swift's, and no classes inside other types: these have names of the same length, which are exchanged in the bytes.
class CompiledPart: NSObject, NSCoding {
    private let values: [String: Any]

    init(_ values: [String: Any]) { self.values = values }

    required init?(coder: NSCoder) { nil }

    func encode(with coder: NSCoder) {
        for (key, value) in values {
            switch value {
            case let flag as Bool: coder.encode(flag, forKey: key)
            case let number as Int: coder.encode(number, forKey: key)
            default: coder.encode(value, forKey: key)
            }
        }
    }
}
final class AModel: CompiledPart {}
final class AnEnt: CompiledPart {}
final class AnAttrib: CompiledPart {}

@Suite("Compiled models")
struct CompiledModelTests {
    /// The bytes of a compiled model that has an entity with texts.
    private func compiled(_ entity: String, attributes: [String]) -> Data {
        let properties = attributes.map { name in
            (
                name,
                AnAttrib([
                    "NSPropertyName": name, "NSAttributeType": 700, "NSIsOptional": true,
                ])
            )
        }
        let archived = AnEnt([
            "NSEntityName": entity, "NSClassNameForEntity": "NSManagedObject",
            "NSProperties": NSDictionary(
                dictionary: Dictionary(uniqueKeysWithValues: properties)),
        ])
        let archiver = NSKeyedArchiver(requiringSecureCoding: false)
        archiver.outputFormat = .binary
        archiver.encode(
            AModel(["NSEntities": NSDictionary(dictionary: [entity: archived])]),
            forKey: NSKeyedArchiveRootObjectKey)
        archiver.finishEncoding()
        var bytes = archiver.encodedData
        for (own, apple) in [
            ("AModel", "NSManagedObjectModel"), ("AnEnt", "NSEntityDescription"),
            ("AnAttrib", "NSAttributeDescription"),
        ] {
            while let place = bytes.range(of: Data("CoreDataTests.\(own)".utf8)) {
                bytes.replaceSubrange(place, with: Data(apple.utf8))
            }
        }
        return bytes
    }

    @Test("the version that the folder names is read, and each by its name")
    func folder() throws {
        let folder = try ModelFileTests.Folder()
        let model = folder.url.appendingPathComponent("Shop.momd")
        try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
        try compiled("Product", attributes: ["name"])
            .write(to: model.appendingPathComponent("Shop.mom"))
        try compiled("Product", attributes: ["name", "size"])
            .write(to: model.appendingPathComponent("Shop 2.mom"))
        let info = ["NSManagedObjectModel_CurrentVersionName": "Shop 2"]
        let list = model.appendingPathComponent("VersionInfo.plist")
        try PropertyListSerialization.data(fromPropertyList: info, format: .binary, options: 0)
            .write(to: list)

        func names(_ url: URL) -> [String]? {
            NSManagedObjectModel(contentsOf: url)?.entitiesByName["Product"]?.properties.map(\.name)
        }
        #expect(names(model) == ["name", "size"])
        #expect(names(model.appendingPathComponent("Shop.mom")) == ["name"])
        #expect(names(model.appendingPathComponent("Shop 3.mom")) == nil)
        let sums = try NSManagedObjectModel.checksumsForVersionedModel(at: model)
        #expect(Set(sums.keys) == ["Shop", "Shop 2"])
        let bundle = try #require(Bundle(url: folder.url))
        #expect(NSManagedObjectModel.mergedModel(from: [bundle])?.entities.count == 1)

        try FileManager.default.removeItem(at: list)
        #expect(names(model) == nil)
    }
}
