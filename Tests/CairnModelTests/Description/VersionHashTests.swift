// What tells the versions of a model apart.

import CairnModel
import CairnTestSupport
import Foundation
import Testing

@Suite("Version hashes")
struct VersionHashTests {
    private static let thing: EntityDescription = {
        var place = AttributeDescription("place", .composite)
        place.elements = [.init("lat", .double), .init("lon", .double)]
        return EntityDescription(
            "Thing",
            attributes: [
                .init("name", .string), .init("code", .integer64, optional: false), place,
            ],
            relationships: [
                .init("owner", to: "Person", inverse: "things"),
                .init("parts", to: "Thing", toMany: true),
            ], uniquenessConstraints: [["name", "code"], ["code"]])
    }()

    @Test("B026: the uniqueness constraints are part of an entity's version hash")
    func constraints() {
        var entity = Self.thing
        entity.uniquenessConstraints = []
        #expect(entity.versionHash != Self.thing.versionHash)
        entity.uniquenessConstraints = [["code"]]
        #expect(entity.versionHash != Self.thing.versionHash)
        // Neither their order matters, nor that of the names in one.
        entity.uniquenessConstraints = [["code"], ["code", "name"]]
        #expect(entity.versionHash == Self.thing.versionHash)
        entity.uniquenessConstraints = [["code"], ["name"], ["code", "name"]]
        #expect(entity.versionHash != Self.thing.versionHash)
        // One of two names is none of one name that reads the same.
        entity.uniquenessConstraints = [["ab", "c"]]
        let hash = entity.versionHash
        entity.uniquenessConstraints = [["a", "bc"]]
        #expect(entity.versionHash != hash)
    }

    @Test("What concerns stored objects changes the hash")
    func matters() {
        let changes: [(String, (inout EntityDescription) -> Void)] = [
            ("name", { $0.name = "Other" }),
            ("abstract", { $0.isAbstract = true }),
            ("superentity", { $0.superentityName = "Base" }),
            ("modifier", { $0.versionHashModifier = "2" }),
            ("one attribute less", { $0.attributes.removeLast() }),
            ("attribute's name", { $0.attributes[0].name = "title" }),
            ("attribute's type", { $0.attributes[1].type = .integer32 }),
            ("optional attribute", { $0.attributes[0].isOptional = false }),
            ("transient attribute", { $0.attributes[0].isTransient = true }),
            ("derived attribute", { $0.attributes[0].derivationExpression = "now()" }),
            ("attribute's modifier", { $0.attributes[0].versionHashModifier = "2" }),
            ("element", { $0.attributes[2].elements[0].type = .float }),
            ("one element less", { $0.attributes[2].elements.removeLast() }),
            ("relationship's name", { $0.relationships[0].name = "holder" }),
            ("destination", { $0.relationships[0].destinationEntityName = "Firm" }),
            ("inverse", { $0.relationships[0].inverseName = nil }),
            ("optional relationship", { $0.relationships[0].isOptional = false }),
            ("transient relationship", { $0.relationships[0].isTransient = true }),
            ("to-many", { $0.relationships[0].isToMany = true }),
            ("ordered", { $0.relationships[1].isOrdered = true }),
            ("least number", { $0.relationships[1].minimumCount = 1 }),
            ("greatest number", { $0.relationships[1].maximumCount = 5 }),
            ("relationship's modifier", { $0.relationships[1].versionHashModifier = "2" }),
            (
                "an attribute made a relationship",
                {
                    $0.attributes.removeFirst()
                    $0.relationships.append(.init("name", to: "Name"))
                }
            ),
        ]
        var seen: [Data: String] = [Self.thing.versionHash: "nothing"]
        for (what, change) in changes {
            var entity = Self.thing
            change(&entity)
            let other = seen.updateValue(what, forKey: entity.versionHash)
            #expect(other == nil, "\(what) beside \(other ?? "")")
        }
    }

    @Test("Orders, validation, rules, indexes, renaming identifiers and texts do not")
    func mattersNot() {
        var entity = Self.thing
        entity.attributes.reverse()
        entity.attributes[0].elements.reverse()
        entity.relationships.reverse()
        entity.managedObjectClassName = "Thing"
        entity.renamingIdentifier = "Article"
        entity.userInfo = ["a": "b"]
        entity.otherMarks = ["codeGenerationType": "class"]
        entity.indexes = [.init("byName", elements: [.init("name")])]
        entity.attributes[2].defaultValue = .string("x")
        entity.attributes[2].maximumLength = 5
        entity.attributes[2].regularExpression = "[a-z]*"
        entity.attributes[2].renamingIdentifier = "title"
        entity.attributes[2].preservesValueInHistoryOnDeletion = true
        entity.attributes[2].allowsExternalBinaryDataStorage = true
        entity.attributes[1].minimumValue = .integer(1)
        entity.attributes[1].usesScalarValueType = true
        entity.relationships[0].deleteRule = .cascade
        entity.relationships[0].renamingIdentifier = "pieces"
        entity.relationships[1].userInfo = ["a": "b"]
        #expect(entity.versionHash == Self.thing.versionHash)
    }

    @Test("A change in an entity changes its hash and those of its descendants, and of no other")
    func inheritance() {
        func entity(_ name: String, under parent: String?, _ attribute: String)
            -> EntityDescription
        {
            var entity = EntityDescription(name, attributes: [.init(attribute, .string)])
            entity.superentityName = parent
            return entity
        }
        let entities = [
            entity("Base", under: nil, "a"), entity("Middle", under: "Base", "b"),
            entity("Leaf", under: "Middle", "c"), entity("Sibling", under: "Base", "d"),
            entity("Other", under: nil, "e"),
        ]
        let before = ManagedObjectModel(entities: entities)
        func changed(_ index: Int) -> Set<String> {
            var entities = entities
            entities[index].attributes[0].isOptional = false
            let after = ManagedObjectModel(entities: entities)
            #expect(after.versionChecksum != before.versionChecksum)
            let (old, new) = (before.entityVersionHashesByName, after.entityVersionHashesByName)
            return Set(old.keys.filter { old[$0] != new[$0] })
        }
        #expect(changed(0) == ["Base", "Middle", "Leaf", "Sibling"])
        #expect(changed(1) == ["Middle", "Leaf"])
        #expect(changed(2) == ["Leaf"])
        #expect(changed(3) == ["Sibling"])
        #expect(changed(4) == ["Other"])
        let turned = ManagedObjectModel(entities: entities.reversed())
        #expect(turned.entityVersionHashesByName == before.entityVersionHashesByName)
        #expect(turned.versionChecksum == before.versionChecksum)
        #expect(before.entityVersionHashesByName["Other"] == entities[4].versionHash)
    }

    @Test("A model that leads in a circle, or nowhere, has hashes all the same")
    func circles() {
        var (one, other) = (EntityDescription("One"), EntityDescription("Other"))
        (one.superentityName, other.superentityName) = ("Other", "One")
        var lost = EntityDescription("Lost")
        lost.superentityName = "Nobody"
        let model = ManagedObjectModel(entities: [one, other, lost])
        #expect(Set(model.entityVersionHashesByName.keys) == ["One", "Other", "Lost"])
    }

    @Test("Hashes are what they were when they were first written down")
    func constant() {
        // Stores will keep them: a change here makes every store one of another version.
        func hex(_ data: Data) -> String { data.map { String(format: "%02x", $0) }.joined() }
        #expect(
            hex(EntityDescription("Thing").versionHash)
                == "69669e50979b717f229059689549c79d73bd87bdddf2b4aeaa973ba858959e55")
        #expect(
            hex(Self.thing.versionHash)
                == "4a938ce1ea336fe1982f229e5f8bb6916f85bd3e18239ee580f723f355e79e01")
        #expect(
            ManagedObjectModel(entities: [Self.thing]).versionChecksum
                == "dJq3XI1LK5Z5kd7F6kL6duane5mVGVTpOE5mZBJJbOU=")
    }

    @Test(
        "SHA-256 gives what its standard says",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                String(repeating: "a", count: 1_000),
                "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"
            ),
        ])
    func sha256(_ text: String, _ expected: String) {
        var hash = SHA256()
        // In portions that fit no block.
        for start in stride(from: 0, to: text.utf8.count, by: 7) {
            Array(Array(text.utf8)[start..<min(start + 7, text.utf8.count)])
                .withUnsafeBytes { hash.add($0) }
        }
        #expect(hash.bytes().map { String(format: "%02x", $0) }.joined() == expected)
        #expect(hash.hexadecimal() == expected)
    }

    @Test(
        "Between versions of real models the hashes differ of those entities that store something else",
        .enabled(if: Corpus.isAvailable))
    func versions() throws {
        Corpus.noteUse()
        let text = try String(contentsOf: Corpus.url("xcdatamodel/SEQUENCES.tsv"), encoding: .utf8)
        var steps = 0
        // A model is read once, though one step ends with it and the next one begins.
        var last: (file: String, model: ManagedObjectModel)?
        for line in text.split(separator: "\n").dropFirst() {
            let cells = line.split(separator: "\t", omittingEmptySubsequences: false)
            let (from, to) = (String(cells[2]), String(cells[3]))
            let models = try [from, to].map { file in
                if let last, last.file == file { return last.model }
                return try ModelFile(contentsOf: Corpus.url("xcdatamodel/\(file)")).model
            }
            last = (to, models[1])
            let hashes = models.map { model in
                Dictionary(uniqueKeysWithValues: model.entities.map { ($0.name, $0.versionHash) })
            }
            let differing = Set(hashes[0].keys).union(hashes[1].keys)
                .filter { hashes[0][$0] != hashes[1][$0] }
            let (must, named) = Self.changed(String(cells[8]))
            var may = named
            // Of hash modifiers the list does not speak.
            let modifiers = models.map(Self.modifiers)
            may.formUnion(differing.filter { modifiers[0][$0] != modifiers[1][$0] })
            #expect(must.subtracting(differing).isEmpty, "\(from) to \(to)")
            if cells[8].utf8.count < Self.mostBytes {
                #expect(differing.subtracting(must).subtracting(may).isEmpty, "\(from) to \(to)")
            }
            steps += 1
        }
        #expect(steps == 101)
    }

    /// By entity: the hash modifiers of it and its properties.
    private static func modifiers(_ model: ManagedObjectModel) -> [String: [String: String]] {
        Dictionary(
            uniqueKeysWithValues: model.entities.map { entity in
                var modifiers: [String: String] = [:]
                modifiers[""] = entity.versionHashModifier
                for attribute in entity.attributes {
                    modifiers[attribute.name] = attribute.versionHashModifier
                }
                for relationship in entity.relationships {
                    modifiers[relationship.name] = relationship.versionHashModifier
                }
                return (entity.name, modifiers)
            })
    }

    /// What is longer is cut off in the list.
    private static let mostBytes = 1500

    /// The entities that changes in words name, of which the hash must differ, and of which it may.
    private static func changed(_ text: String) -> (must: Set<String>, may: Set<String>) {
        var (must, may): (Set<String>, Set<String>) = ([], [])
        var changes = text.components(separatedBy: "; ")
        if text.utf8.count >= mostBytes { changes.removeLast() }
        for change in changes {
            let words = change.split(separator: " ")
            guard words.count >= 2 else { continue }
            if ["+entity", "-entity"].contains(words[0]) {
                must.insert(String(words[1]))
                continue
            }
            let place = words[0].prefix { $0 != ":" }.split(separator: ".")
            guard words[0].hasSuffix(":"), let entity = place.first.map(String.init) else {
                // A rename of an entity, which is named in two ways.
                for word in words.flatMap({ $0.components(separatedBy: "->") }) { may.insert(word) }
                continue
            }
            let kinds = [
                "+attribute", "-attribute", "+relationship", "-relationship", "+unique(", "parent",
                "type", "optional", "toMany", "ordered", "inverseName", "destinationEntity",
            ]
            if kinds.contains(where: { words[1].hasPrefix($0) }) {
                must.insert(entity)
            } else if words[1].hasPrefix("rename") || words[1] == "maxCount" {
                may.insert(entity)
            } else if words[1] == "minCount" {
                must.insert(entity)
            }
        }
        return (must, may)
    }

    @Test(
        "Reading a model again, or from its own text, gives the same hashes",
        .enabled(if: Corpus.isAvailable), arguments: CorpusModel.today)
    func again(_ file: CorpusModel) throws {
        if file.file == CorpusModel.today[0].file { Corpus.noteUse() }
        let model = try file.read().model
        var turned = try ManagedObjectModel(json: model.json())
        turned.entities.reverse()
        #expect(turned.entityVersionHashesByName == model.entityVersionHashesByName)
        #expect(turned.versionChecksum == model.versionChecksum)
        let hashes = model.entityVersionHashesByName
        #expect(Set(hashes.values).count == model.entities.count)
    }
}
