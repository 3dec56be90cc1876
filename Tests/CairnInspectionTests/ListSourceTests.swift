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
}
