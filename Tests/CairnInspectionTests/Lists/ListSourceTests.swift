// Lists from files and pipes can be read as often as is needed.

import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnInspection

@Suite("Where lists come from")
struct ListSourceTests {
    private let text = "a,b\n1,2\n3,4\n"

    @Test("a file is read from its beginning each time")
    func file() throws {
        try withTemporaryDirectory { folder in
            let path = folder.path("list.CSV")
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            let source = try ListSource(path: path)
            #expect(source.ending == "csv")
            #expect(source.byteCount == text.utf8.count)
            #expect(try records(source) == records(source))
            #expect(try records(source).count == 2)
        }
    }

    @Test("a pipe is read to its end first")
    func pipe() throws {
        let ends = try FileDescriptor.pipe()
        try ends.writeEnd.writeAll(text.utf8)
        try ends.writeEnd.close()
        let source = try ListSource(standardInput: ends.readEnd)
        try ends.readEnd.close()
        #expect(source.name == "standard input")
        #expect(try records(source).count == 2)
        #expect(try records(source).count == 2)
    }

    @Test("a pipe that has a name in the file system is read like a pipe")
    func namedPipe() throws {
        let ends = try FileDescriptor.pipe()
        try ends.writeEnd.writeAll(text.utf8)
        try ends.writeEnd.close()
        defer { try? ends.readEnd.close() }
        let source = try ListSource(path: "/dev/fd/\(ends.readEnd.rawValue)")
        #expect(try records(source).count == 2)
        #expect(try records(source).count == 2)
    }

    @Test("what cannot be read is an error with its name")
    func unreadable() throws {
        withTemporaryDirectory { folder in
            let missing = #expect(throws: ListError.self) {
                try ListSource(path: folder.path("none"))
            }
            #expect(missing?.source == folder.path("none"))
            let directory = #expect(throws: ListError.self) { try ListSource(path: folder.path) }
            #expect(directory?.message.contains("folder") == true)
        }
    }

    @Test(
        "what is no list is called by its name, with what to do",
        arguments: [
            ([0x1F, 0x8B, 8, 0], "", "gunzip -c"), ([0x50, 0x4B, 3, 4, 20, 0], "", "unzip -p"),
            ([0x50, 0x4B, 5, 6, 0, 0], "csv", "unzip -p"),
            ([0x50, 0x4B, 3, 4, 20, 0], "xlsx", "save the sheet as CSV"),
            (
                [0x50, 0x4B, 3, 4] + [UInt8](repeating: 0, count: 26)
                    + Array("[Content_Types].xml".utf8), "", "save the sheet as CSV"
            ),
            ([0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1], "xls", "save the sheet as CSV"),
            ([0x28, 0xB5, 0x2F, 0xFD, 4], "json", "zstd -dc"),
            (Array("BZh9".utf8) + [0x31, 0x41, 0x59, 0x26, 0x53, 0x59], "", "bzip2 -dc"),
            ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0], "", "xz -dc"),
            ([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], "", "7z x -so"),
            (Array("SQLite format 3\0".utf8), "db", "SQLite"),
            (Array("PAR1\u{15}".utf8), "parquet", "Parquet"), (Array("bplist00".utf8), "", "list"),
            (Array("%PDF-1.7".utf8), "", "PDF"),
            (Array("\n <!DOCTYPE HTML>".utf8), "csv", "web page"),
            (Array("<?xml version=\"1.0\"?>".utf8), "", "XML"),
        ] as [([UInt8], String, String)])
    func noList(bytes: [UInt8], ending: String, message: String) throws {
        let source = ListSource(bytes, name: "given", ending: ending)
        let error = #expect(throws: ListError.self) { try ListForm(of: source) }
        #expect(error?.description.hasPrefix("given: it is ") == true, "\(error as Any)")
        #expect(error?.message.contains(message) == true, "\(error as Any)")
    }

    @Test(
        "a header that only looks like it is CSV all the same",
        arguments: ["PK,b\n1,2\n", "BZh,b\n1,2\n", "PAR1,PAR2\n1,2\n", "<b>,c\n1,2\n"])
    func looksLike(text: String) throws {
        #expect(try records(list(text)).count == 1)
    }
}
