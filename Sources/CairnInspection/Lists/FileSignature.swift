// Detects, by their first bytes, files passed as lists or models by mistake.
//
// A spreadsheet, an archive or an error page does not contain records, and the error that a text parser would
// report ("these bytes are no UTF-8") does not help. This code names the kind of file, and what to do.

import FoundationEssentials

/// A kind of file that is neither list nor model.
package struct FileSignature: Sendable {
    /// The number of bytes of a file that are enough to detect it.
    static let length = 64

    /// The name of the kind, as it follows "it is".
    package let name: String
    /// How to get a list from it.
    let listAdvice: String
    /// Whether it contains another file.
    package let isPacked: Bool
    private let bytes: [UInt8]

    private init(
        _ bytes: [UInt8], _ name: String, _ listAdvice: String, isPacked: Bool = false
    ) {
        self.bytes = bytes
        self.name = name
        self.listAdvice = listAdvice
        self.isPacked = isPacked
    }

    private init(_ text: String, _ name: String, _ listAdvice: String) {
        self.init(Array(text.utf8), name, listAdvice)
    }

    /// Returns the kind of a file on disk; nil if it is none of these. The reader of the file reports other
    /// errors.
    package static func ofFile(_ path: String) -> FileSignature? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        // A pipe can be read only once.
        guard attributes?[.type] as? FileAttributeType == .typeRegular,
            let source = try? ListSource(path: path), let start = try? source.start(length)
        else { return nil }
        return FileSignature.of(start, ending: source.ending)
    }

    /// Returns the kind of a file with these first bytes; nil if it is none of these.
    ///
    /// - Parameter ending: the file name extension, in lower case.
    static func of(_ start: [UInt8], ending: String) -> FileSignature? {
        if archives.contains(where: { start.starts(with: $0) }) { return archive(start, ending) }
        if start.starts(with: Array("BZh".utf8)),
            start.dropFirst(4).starts(with: [0x31, 0x41, 0x59, 0x26, 0x53, 0x59])
        {
            // The fourth byte is a digit with the block size.
            return compressed(start, "bzip2 -dc")
        }
        if let known = others.first(where: { start.starts(with: $0.bytes) }) { return known }
        let text = tag(start)
        guard text.hasPrefix("<!doctype html") || text.hasPrefix("<html") else { return nil }
        return FileSignature(
            start, "a web page", "perhaps the server answered with an error")
    }

    /// Returns the start of a text in lower case: tags may have any case.
    static func tag(_ start: [UInt8]) -> String {
        let text = start.drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
        return String(decoding: text, as: UTF8.self).lowercased()
    }

    /// The first bytes of a zip archive: with files, empty, and in several parts.
    private static let archives: [[UInt8]] = [
        [0x50, 0x4B, 0x03, 0x04], [0x50, 0x4B, 0x05, 0x06], [0x50, 0x4B, 0x07, 0x08],
    ]

    /// Returns the kind of a zip archive: some spreadsheets are zip archives too.
    private static func archive(_ start: [UInt8], _ ending: String) -> FileSignature {
        // The name of the first file follows 30 bytes.
        let first = String(decoding: start.dropFirst(30), as: UTF8.self)
        let isOffice = first.hasPrefix("[Content_Types].xml") || first.hasPrefix("mimetype")
        if isOffice || ["xlsx", "xlsm", "ods", "numbers"].contains(ending) {
            return FileSignature(start, "a spreadsheet", "save the sheet as CSV first")
        }
        return FileSignature(
            start, "a zip archive", "unpack it while importing, unzip -p FILE | cairn import … -",
            isPacked: true)
    }

    private static func compressed(_ bytes: [UInt8], _ tool: String) -> FileSignature {
        FileSignature(
            bytes, "compressed", "unpack it while importing, \(tool) FILE | cairn import … -",
            isPacked: true)
    }

    private static let others: [FileSignature] = [
        compressed([0x1F, 0x8B], "gunzip -c"),
        compressed([0x1F, 0x9D], "uncompress -c"),
        compressed([0x28, 0xB5, 0x2F, 0xFD], "zstd -dc"),
        compressed([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], "xz -dc"),
        compressed([0x04, 0x22, 0x4D, 0x18], "lz4 -dc"),
        compressed([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], "7z x -so"),
        FileSignature(
            Array("Rar!\u{1A}\u{7}".utf8), "a rar archive", "unpack it first", isPacked: true),
        FileSignature(
            [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1],
            "a spreadsheet or document from an old version of Office", "save the sheet as CSV first"
        ),
        FileSignature(
            "SQLite format 3\0", "an SQLite database",
            "export the table as CSV or JSON, or import a Core Data store with"
                + " cairn import-coredata"),
        FileSignature("bplist00", "a binary property list", "a list is JSON or CSV"),
        FileSignature("PAR1\u{15}", "a Parquet file", "save the table as CSV or JSON first"),
        FileSignature("ARROW1\0\0", "an Arrow file", "save the table as CSV or JSON first"),
        FileSignature("%PDF-", "a PDF", "a list is JSON or CSV"),
    ]
}
