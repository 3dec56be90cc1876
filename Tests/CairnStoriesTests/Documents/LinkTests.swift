// That links in README, the articles, the format and the tables of layers lead somewhere, and that what they say of the
// repository itself is there: suites, scripts, products.

import Foundation
import Testing

@Suite("Links in the documentation")
struct LinkTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let catalogue = "Sources/Cairn/Cairn.docc"

    /// The paths of all texts in the package.
    private static func documents() throws -> [String] {
        var paths = ["README.md"]
        for folder in ["Sources", "Format", "Benchmarks", "Tests"] {
            let all = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
            while let path = all?.nextObject() as? String {
                if path.hasPrefix(".build") || path.contains("/.build") { continue }
                if path.hasSuffix(".md") { paths.append("\(folder)/\(path)") }
            }
        }
        return paths.sorted()
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    private static func prose(_ path: String) throws -> String {
        try text(path).replacing(/(?ms)^ *```.*?^ *```/, with: "")
    }

    private static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root.appending(path: path).path)
    }

    /// What a heading is called in a link.
    private static func anchors(_ path: String) throws -> [String] {
        try prose(path).matches(of: /(?m)^#+ +(.*)$/).map { heading in
            heading.1.lowercased().replacing(" ", with: "-")
                .filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
        }
    }

    @Test("a link leads to a file or a heading", arguments: try documents())
    func files(_ document: String) throws {
        let folder = (document as NSString).deletingLastPathComponent
        for match in try Self.prose(document).matches(of: /\]\(([^)\s]+)\)/) {
            let link = String(match.1)
            if link.contains("://") {
                #expect(URL(string: link)?.scheme == "https", "\(link) is not fetched by https")
                continue
            }
            let parts = link.split(
                separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            let file =
                parts[0].isEmpty
                ? document : ("\(folder)/\(parts[0])" as NSString).standardizingPath
            let path = file.hasPrefix("/") ? String(file.dropFirst()) : file
            #expect(Self.exists(path), "\(link) leads nowhere")
            if parts.count == 2, path.hasSuffix(".md"), Self.exists(path) {
                #expect(
                    try Self.anchors(path).contains(String(parts[1])), "\(link): no such heading")
            }
        }
    }

    @Test("a link to an article leads to one", arguments: try documents())
    func articles(_ document: String) throws {
        for match in try Self.prose(document).matches(of: /<doc:([^>#]+)(#[^>]*)?>/) {
            let name = match.1.split(separator: "/").last.map(String.init) ?? ""
            let places = ["\(name).md", "Tutorials/\(name).tutorial"]
            #expect(
                places.contains { Self.exists("\(Self.catalogue)/\($0)") },
                "there is no article \(name)")
        }
    }

    @Test("suites, scripts and products that are named are there", arguments: try documents())
    func named(_ document: String) throws {
        let text = try Self.text(document)
        for match in text.matches(of: /--filter\s+('[^']+'|[\w|]+)/) {
            let pattern = match.1.trimmingCharacters(in: ["'"])
            for name in pattern.split(separator: "|") {
                #expect(Self.suites.contains { $0.contains(name) }, "no suite \(name)")
            }
        }
        for match in text.matches(of: /(?:\bbash |[`(])((?:\.ci|Benchmarks)\/[\w\/.-]+)/) {
            #expect(Self.exists(String(match.1)), "there is no \(match.1)")
        }
        let manifest = try Self.text("Package.swift")
        for match in text.matches(of: /--product (\S+?)[`\s]/) {
            #expect(manifest.contains("(name: \"\(match.1)\""), "there is no product \(match.1)")
        }
        for match in text.matches(of: /--package-path (\S+) (\w+)/) {
            let example = String(match.1)
            #expect(try Self.text("\(example)/Package.swift").contains("\"\(match.2)\""))
        }
    }

    @Test("options of scripts that are named are there", arguments: try documents())
    func options(_ document: String) throws {
        let commands = try Self.text(document).matches(
            of: /(?:bash +|[`(]|^)((?:\.ci|Benchmarks)\/[\w-]+)((?: +[^`\n]+)?)/
                .anchorsMatchLineEndings())
        for match in commands {
            let script = String(match.1)
            // Others are folders, or are missing, which the test above says.
            guard var source = try? Self.text(script) else { continue }
            if script.hasPrefix("Benchmarks") { source += Self.benchmarks }
            for option in match.2.matches(of: /--([\w-]+)/) {
                // The argument parser makes an option of a property.
                let words = option.1.split(separator: "-")
                let property = words.dropFirst().reduce(words[0].description) {
                    $0 + $1.capitalized
                }
                #expect(
                    source.contains("--\(option.1)") || source.contains("var \(property)"),
                    "\(script) has no --\(option.1)")
            }
        }
    }

    /// The sources of the benchmarks' program.
    private static let benchmarks: String = {
        var sources = ""
        let folder = "Benchmarks/Sources"
        let all = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
        while let path = all?.nextObject() as? String {
            guard path.hasSuffix(".swift") else { continue }
            sources += (try? text("\(folder)/\(path)")) ?? ""
        }
        return sources
    }()

    /// The names of all suites: of the files that hold them.
    private static let suites: [String] = {
        let all = try? FileManager.default.subpathsOfDirectory(
            atPath: root.appending(path: "Tests").path)
        return (all ?? []).filter { $0.hasSuffix("Tests.swift") }
            .map { (($0 as NSString).lastPathComponent as NSString).deletingPathExtension }
    }()

    @Test("the map of the modules has every module")
    func map() throws {
        let map = try Self.text("\(Self.catalogue)/modules.svg")
        let sources = Self.root.appending(path: "Sources")
        for module in try FileManager.default.contentsOfDirectory(atPath: sources.path) {
            let files = try FileManager.default.subpathsOfDirectory(
                atPath: sources.appending(path: module).path)
            // The others are libraries of the system.
            guard files.contains(where: { $0.hasSuffix(".swift") || $0.hasSuffix(".c") }) else {
                continue
            }
            #expect(map.contains(try Regex("\\b\(module)\\b")), "\(module) is not on the map")
        }
    }

    @Test("there are texts, with links among them")
    func found() throws {
        #expect(try Self.documents().count > 60)
        let links = try Self.documents().map { try Self.prose($0).matches(of: /\]\(|<doc:/).count }
        #expect(links.reduce(0, +) > 80)
    }
}
