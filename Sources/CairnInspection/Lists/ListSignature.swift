// Files that are given for lists by mistake, told by their first bytes.
//
// A spreadsheet, an archive or a page of an error is no text of records, and what a reader of text would say of it
// ("these bytes are no UTF-8") helps nobody. Here each is called by its name, with what to do.

/// The first bytes of something that is no list.
struct ListSignature: Sendable {
    /// How many bytes of a list are enough to tell.
    static let length = 64

    private let bytes: [UInt8]
    private let message: String

    private init(_ bytes: [UInt8], _ message: String) {
        self.bytes = bytes
        self.message = message
    }

    private init(_ text: String, _ message: String) {
        self.init(Array(text.utf8), message)
    }

    /// What is wrong with a list that begins like that, and what to do; nil if it may be a list.
    ///
    /// - Parameter ending: the end of its name, in small letters.
    static func problem(of start: [UInt8], ending: String) -> String? {
        if archives.contains(where: { start.starts(with: $0) }) { return archive(start, ending) }
        if start.starts(with: Array("BZh".utf8)),
            start.dropFirst(4).starts(with: [0x31, 0x41, 0x59, 0x26, 0x53, 0x59])
        {
            // The fourth byte is a digit that says how large its blocks are.
            return compressed("bzip2 -dc")
        }
        if let known = others.first(where: { start.starts(with: $0.bytes) }) {
            return known.message
        }
        // Tags are written in any case.
        let tag = start.drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
        let text = String(decoding: tag, as: UTF8.self).lowercased()
        if text.hasPrefix("<!doctype html") || text.hasPrefix("<html") {
            return "it is a web page, not a list: perhaps the server answered with an error"
        }
        return text.hasPrefix("<?xml") ? "it is XML: a list is JSON or CSV" : nil
    }

    /// What begins a zip archive: with files, without any, and in several parts.
    private static let archives: [[UInt8]] = [
        [0x50, 0x4B, 0x03, 0x04], [0x50, 0x4B, 0x05, 0x06], [0x50, 0x4B, 0x07, 0x08],
    ]

    /// What a zip archive is: spreadsheets are some too.
    private static func archive(_ start: [UInt8], _ ending: String) -> String {
        // The name of the first file follows 30 bytes.
        let first = String(decoding: start.dropFirst(30), as: UTF8.self)
        let isOffice = first.hasPrefix("[Content_Types].xml") || first.hasPrefix("mimetype")
        if isOffice || ["xlsx", "xlsm", "ods", "numbers"].contains(ending) {
            return "it is a spreadsheet: save the sheet as CSV first"
        }
        return "it is a zip archive: unpack it on the way, unzip -p FILE | cairn import … -"
    }

    private static func compressed(_ tool: String) -> String {
        "it is compressed: unpack it on the way, \(tool) FILE | cairn import … -"
    }

    private static let others: [ListSignature] = [
        ListSignature([0x1F, 0x8B], compressed("gunzip -c")),
        ListSignature([0x1F, 0x9D], compressed("uncompress -c")),
        ListSignature([0x28, 0xB5, 0x2F, 0xFD], compressed("zstd -dc")),
        ListSignature([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], compressed("xz -dc")),
        ListSignature([0x04, 0x22, 0x4D, 0x18], compressed("lz4 -dc")),
        ListSignature([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], compressed("7z x -so")),
        ListSignature("Rar!\u{1A}\u{7}", "it is a rar archive: unpack it first"),
        ListSignature(
            [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1],
            "it is a spreadsheet or document of an old Office: save the sheet as CSV first"),
        ListSignature(
            "SQLite format 3\0",
            "it is an SQLite database: export the table as CSV or JSON; one that Core Data wrote is"
                + " brought over by cairn import-coredata"),
        ListSignature("bplist00", "it is a binary property list: a list is JSON or CSV"),
        ListSignature("PAR1\u{15}", "it is a Parquet file: save the table as CSV or JSON first"),
        ListSignature("ARROW1\0\0", "it is an Arrow file: save the table as CSV or JSON first"),
        ListSignature("%PDF-", "it is a PDF: a list is JSON or CSV"),
    ]
}
