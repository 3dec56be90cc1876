// Folders of model versions, and which version is the current one.

import CairnModel
import CairnTestSupport
import Foundation
import Testing

@Suite("Model versions")
struct ModelVersionsTests {
    /// Makes a versioned model whose versions have one entity each, named as the version without blanks.
    private func makeModel(
        in folder: TemporaryDirectory, versions: [String], current: String? = nil
    ) throws -> String {
        let model = folder.url("Shop.xcdatamodeld")
        for version in versions {
            let inner = model.appendingPathComponent("\(version).xcdatamodel")
            try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
            let name = version.replacingOccurrences(of: " ", with: "")
            try ModelText.file("<entity name=\"\(name)\"/>")
                .write(to: inner.appendingPathComponent("contents"))
        }
        if let current {
            let text = """
                <?xml version="1.0" encoding="UTF-8"?>
                <plist version="1.0"><dict><key>_XCCurrentVersionName</key><string>\(current)</string></dict></plist>
                """
            try Data(text.utf8).write(to: model.appendingPathComponent(".xccurrentversion"))
        }
        return model.path
    }

    @Test("The current version is the one that the list of versions names")
    func current() throws {
        try withTemporaryDirectory { folder in
            let path = try makeModel(
                in: folder, versions: ["Shop", "Shop 10", "Shop 2"],
                current: "Shop 2.xcdatamodel")
            let versions = try ModelVersions(contentsOfFile: path)
            #expect(versions.names == ["Shop", "Shop 2", "Shop 10"])
            #expect(versions.currentName == "Shop 2")
            #expect(versions.warnings.isEmpty)
            #expect(try versions.readCurrent().model.entities.map(\.name) == ["Shop2"])
            #expect(try versions.read("Shop 10").model.entities.map(\.name) == ["Shop10"])
            let model = try ManagedObjectModel(contentsOf: URL(fileURLWithPath: path))
            #expect(model.entities.map(\.name) == ["Shop2"])
        }
    }

    @Test("Without a list of versions the only version is taken silently")
    func single() throws {
        try withTemporaryDirectory { folder in
            let path = try makeModel(in: folder, versions: ["Shop 2"])
            let file = try ModelFile(contentsOfFile: path)
            #expect(file.model.entities.map(\.name) == ["Shop2"])
            #expect(file.warnings.isEmpty)
        }
    }

    @Test(
        "Without a list of versions the one without a number is taken, with a warning",
        arguments: [["Shop 2", "Shop", "Shop 3"], ["Store 2", "Store", "Store 3"]])
    func ambiguous(_ names: [String]) throws {
        try withTemporaryDirectory { folder in
            let path = try makeModel(in: folder, versions: names)
            let file = try ModelFile(contentsOfFile: path)
            #expect(file.model.entities.map(\.name) == [names[1]])
            #expect(file.warnings.count == 1)
            #expect(file.warnings.first?.file == path)
            #expect(file.warnings.first?.message.contains(names[1]) == true)
        }
    }

    @Test("A version folder and the file in it are read alone")
    func bare() throws {
        try withTemporaryDirectory { folder in
            let path = try makeModel(in: folder, versions: ["Shop", "Shop 2"])
            let version = "\(path)/Shop 2.xcdatamodel"
            #expect(try ModelVersions(contentsOfFile: version).names == ["Shop 2"])
            #expect(
                try ManagedObjectModel(contentsOfFile: version).entities.map(\.name) == ["Shop2"])
            #expect(try ModelVersions(contentsOfFile: "\(version)/contents").names == ["Shop 2"])
            #expect(
                try ManagedObjectModel(contentsOfFile: "\(version)/contents").entities.map(\.name)
                    == ["Shop2"])
        }
    }

    @Test("A list that names a version which is not there is an error")
    func missingCurrent() throws {
        try withTemporaryDirectory { folder in
            let path = try makeModel(
                in: folder, versions: ["Shop"], current: "Shop 9.xcdatamodel")
            let error = try #require(throws: ModelError.self) {
                _ = try ModelVersions(contentsOfFile: path)
            }
            #expect(error.code == .unknownName)
            #expect(error.file == "\(path)/.xccurrentversion")
        }
    }

    @Test("A list that is no property list is an error")
    func brokenCurrent() throws {
        try withTemporaryDirectory { folder in
            let path = try makeModel(in: folder, versions: ["Shop"])
            try Data("nonsense".utf8).write(
                to: URL(fileURLWithPath: "\(path)/.xccurrentversion"))
            let error = try #require(throws: ModelError.self) {
                _ = try ModelVersions(contentsOfFile: path)
            }
            #expect(error.code == .malformed)
        }
    }

    @Test("A version that is not there is an error that lists those that are")
    func unknownVersion() throws {
        try withTemporaryDirectory { folder in
            let path = try makeModel(
                in: folder, versions: ["Shop", "Shop 2"], current: "Shop.xcdatamodel")
            let error = try #require(throws: ModelError.self) {
                _ = try ModelFile(contentsOfFile: path, version: "Shop 3")
            }
            #expect(error.code == .unknownName)
            #expect(error.message.contains("Shop, Shop 2"))
        }
    }

    @Test("Nothing, an empty folder and a binary model of old are unreadable, and say so")
    func unreadable() throws {
        try withTemporaryDirectory { folder in
            let missing = try #require(throws: ModelError.self) {
                _ = try ModelVersions(contentsOfFile: folder.path("none"))
            }
            #expect(missing.code == .unreadable)
            #expect(missing.file == folder.path("none"))
            let empty = try #require(throws: ModelError.self) {
                _ = try ModelVersions(contentsOfFile: folder.path)
            }
            #expect(empty.code == .unreadable)
            try Data([1, 2, 3]).write(to: folder.url("elements"))
            let old = try #require(throws: ModelError.self) {
                _ = try ModelVersions(contentsOfFile: folder.path)
            }
            #expect(old.code == .unreadable)
            #expect(old.message.contains("Xcode 3"))
        }
    }
}
