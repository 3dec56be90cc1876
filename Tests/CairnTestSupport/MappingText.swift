// The file of a mapping model as Xcode writes it.

import FoundationEssentials

/// A mapping model to be written.
package struct MappingText: Sendable {
    /// Where the value of a property comes from.
    package struct Property: Sendable {
        package var name: String
        package var isRelationship: Bool
        package var expression: ArchivedNode?
        /// What else the object says, by the names of its attributes.
        package var texts: [String: String]

        package static func attribute(
            _ name: String, _ expression: ArchivedNode? = nil, _ texts: [String: String] = [:]
        ) -> Property {
            Property(name: name, isRelationship: false, expression: expression, texts: texts)
        }

        /// A relationship; Xcode has all of them generated, unless somebody says otherwise.
        package static func relationship(
            _ name: String, _ expression: ArchivedNode? = nil, _ texts: [String: String] = [:]
        ) -> Property {
            let generated = ["autogenerateexpression": "1"]
            return Property(
                name: name, isRelationship: true, expression: expression,
                texts: generated.merging(texts) { $1 })
        }
    }

    /// What becomes of the objects of an entity.
    package struct Entity: Sendable {
        package var source: String?
        package var destination: String?
        package var properties: [Property]
        /// What else the object says, by the names of its attributes.
        package var texts: [String: String]

        package init(
            from source: String? = nil, to destination: String? = nil,
            _ properties: [Property] = [], _ texts: [String: String] = [:]
        ) {
            self.source = source
            self.destination = destination
            self.properties = properties
            self.texts = texts
        }
    }

    package var entities: [Entity]

    package init(_ entities: [Entity]) { self.entities = entities }

    /// A dictionary of texts as it lies in `userinfodata`.
    package static func userInfo(_ info: [(String, String)]) -> String {
        var writer = ArchiveWriter()
        let members = info.map { ($0.0, writer.text($0.1)) }
        let root = writer.dictionary(members)
        return base64(writer.bytes(of: root))
    }

    /// Bytes in base 64, in lines as Core Data writes them.
    package static func base64(_ bytes: [UInt8]) -> String {
        let options: Data.Base64EncodingOptions = [.lineLength76Characters, .endLineWithLineFeed]
        return Data(bytes).base64EncodedString(options: options) + "\n"
    }

    /// A text as Core Data writes it: what XML has another use for is the code of a UTF-16 unit, its lower byte first.
    package static func escaped(_ text: String) -> String {
        text.reduce(into: "") { escaped, character in
            switch character {
            case "&": escaped += "\\u2600"
            case "<": escaped += "\\u3c00"
            case ">": escaped += "\\u3e00"
            default: escaped.append(character)
            }
        }
    }

    /// The file.
    package var xml: String {
        var body = ""
        var number = 101
        func id() -> String {
            number += 1
            return "z\(number)"
        }
        let model = id()
        let mappings = entities.map { _ in id() }
        for (index, entity) in entities.enumerated() {
            var ids: [[String]] = [[], []]
            for property in entity.properties {
                var texts = property.texts
                texts["name"] = property.name
                if let expression = property.expression {
                    texts["valueexpressiondata"] = Self.base64(expression.archive)
                }
                let own = id()
                ids[property.isRelationship ? 1 : 0].append(own)
                body += Self.object(
                    property.isRelationship ? "RELATIONSHIPMAPPING" : "ATTRIBUTEMAPPING", own,
                    texts, [("entitymapping", "1/1", "ENTITYMAPPING", [mappings[index]])])
            }
            var texts = entity.texts
            texts["sourcename"] = texts["sourcename"] ?? entity.source
            texts["destinationname"] = texts["destinationname"] ?? entity.destination
            texts["mappingtypename"] = "Undefined"
            texts["mappingnumber"] = texts["mappingnumber"] ?? "\(index + 1)"
            texts["autogenerateexpression"] = texts["autogenerateexpression"] ?? "1"
            body += Self.object(
                "ENTITYMAPPING", mappings[index], texts,
                [
                    ("mappingmodel", "1/1", "MAPPINGMODEL", [model]),
                    ("attributemappings", "0/0", "ATTRIBUTEMAPPING", ids[0]),
                    ("relationshipmappings", "0/0", "RELATIONSHIPMAPPING", ids[1]),
                ])
        }
        body += Self.object(
            "MAPPINGMODEL", model,
            [
                "sourcemodelpath": "Shop/Shop.xcdatamodeld/Shop.xcdatamodel",
                "destinationmodelpath": "Shop/Shop.xcdatamodeld/Shop 2.xcdatamodel",
                "sourcemodeldata": Self.base64(ArchivedNode.itself.archive),
            ], [("entitymappings", "0/0", "ENTITYMAPPING", mappings)])
        return """
            <?xml version="1.0" standalone="yes"?>
            <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

            <database>
                <databaseInfo>
                    <version>134481920</version>
                    <UUID>00000000-0000-0000-0000-000000000000</UUID>
                    <nextObjectID>\(number + 1)</nextObjectID>
                    <metadata>
                        <plist version="1.0">
                            <dict>
                                <key>NSPersistenceFrameworkVersion</key>
                                <integer>1513</integer>
                            </dict>
                        </plist>
                    </metadata>
                </databaseInfo>
            \(body)</database>
            """
    }

    private static func object(
        _ type: String, _ id: String, _ texts: [String: String],
        _ relationships: [(String, String, String, [String])]
    ) -> String {
        var lines = ["    <object type=\"XDDEV\(type)\" id=\"\(id)\">"]
        for (name, text) in texts.sorted(by: { $0.key < $1.key }) {
            let kind =
                name.hasSuffix("data")
                ? "binary"
                : name == "mappingnumber"
                    ? "int16" : name == "autogenerateexpression" ? "bool" : "string"
            lines.append(
                "        <attribute name=\"\(name)\" type=\"\(kind)\">\(escaped(text))</attribute>")
        }
        for (name, count, destination, ids) in relationships {
            let references = ids.isEmpty ? "" : " idrefs=\"\(ids.joined(separator: " "))\""
            lines.append(
                "        <relationship name=\"\(name)\" type=\"\(count)\" destination=\"XDDEV\(destination)\"\(references)></relationship>"
            )
        }
        return (lines + ["    </object>\n"]).joined(separator: "\n")
    }
}
