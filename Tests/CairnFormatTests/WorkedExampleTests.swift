import CairnFormat
import CairnTestSupport
import Foundation
import Testing

@Suite("The worked example of the specification")
struct WorkedExampleTests {
    static let format = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Format")

    /// Set CAIRN_WRITE_EXAMPLE to write the chapter anew after a change of the format.
    @Test("Chapter 90 is what the codec writes, byte for byte")
    func chapter() throws {
        let url = Self.format.appending(path: "90-worked-example.md")
        let text = try Self.text()
        if ProcessInfo.processInfo.environment["CAIRN_WRITE_EXAMPLE"] != nil {
            try text.write(to: url, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOf: url, encoding: .utf8) == text)
    }

    @Test("The example's rows are what its export says")
    func export() throws {
        let files = try ExampleStore.make()
        var writer = ByteWriter()
        ExportLines.appendHeader(schemaVersion: 1, to: &writer)
        let kinds: [(String, PropertyKind, UInt32)] = [
            ("icao", .string, 1), ("elevation", .double, 2), ("opened", .date, 3),
        ]
        // The first row of the first block, and the block that replaced the second.
        for (frame, row) in [(2, 0), (4, 0)] {
            try files.segment[files.frames[frame].offset...].withUnsafeBytes { bytes in
                let header = try FrameHeader(decoding: bytes)
                let payload = try header.payload(
                    of: UnsafeRawBufferPointer(
                        rebasing: bytes[FrameHeader.size..<header.frameLength]))
                let head = try BlockHead(decoding: payload)
                let numbers = try DecodedColumn.decodeNumbers(of: head, in: payload)
                let versions = try DecodedColumn.decodeVersions(of: head, in: payload)
                ExportLines.beginObject(
                    entity: "Airport", number: UInt32(numbers.integer(at: row)),
                    version: UInt32(versions.integer(at: row)), to: &writer)
                for (name, kind, id) in kinds {
                    ExportLines.appendName(name, isFirst: id == 1, to: &writer)
                    let column = try DecodedColumn.decode(
                        id, kind: kind.column, of: head, in: payload)
                    try ExportLines.append(kind, column, row: row, to: &writer)
                }
                ExportLines.endObject(&writer)
            }
        }
        #expect(String(decoding: writer.bytes, as: UTF8.self) == ExampleStore.export)
    }

    @Test("Its frames form one chain, and its schema holds together")
    func chain() throws {
        let files = try ExampleStore.make()
        try files.segment.withUnsafeBytes { bytes in
            let header = try SegmentHeader(decoding: bytes)
            var expected = FrameHeader.Expectation(
                segment: 1, storeTag: header.store.tag, lsn: 4096,
                chain: SegmentHeader.chain(ofEncoded: bytes), mark: 0)
            for (offset, _) in files.frames {
                #expect(expected.lsn == UInt64(offset))
                let frame = try FrameHeader(
                    decoding: UnsafeRawBufferPointer(rebasing: bytes[offset...]))
                try frame.check(expected)
                expected.lsn += UInt64(frame.frameLength)
                expected.chain = frame.chain
                expected.mark = frame.mark
            }
            #expect(expected.lsn == UInt64(bytes.count))
            let mark = try files.lock.withUnsafeBytes { try MarkRecord(decoding: $0) }
            #expect(mark.chain == expected.chain)
            #expect(mark.lsn == expected.lsn)
        }
        let schema = try JSONDecoder().decode(
            SchemaDocument<IgnoredModel>.self, from: Data(ExampleStore.schema.utf8))
        try schema.check()
        #expect(schema.entities[0].properties[2].kind == .date)
    }

    static func text() throws -> String {
        let files = try ExampleStore.make()
        var text = """
            # 90 Worked example

            Since version 1. A whole store: a folder with the two files below. A test writes it with the codec and
            compares this page, so it is not edited by hand. Left of each line is the offset in the file; lines of
            zeros are left out.

            One entity, Airport, with a string, a double and a date. Commit 1 inserts two rows; both lack the date, so
            the block has no column for it (F-408). The doubles 47.5 and 431.25 share the scale 2: 4750 and 43125.
            Commit 2 writes row 2 anew, with version 2, and the death of its first version. Then the store is closed.

            ## The file `lock`


            """
        text += block(HexDump.lines(files.lock[...]))
        text +=
            "\n## The file `0000000001.segment`, \(files.segment.count) bytes\n\nSegment header:\n\n"
        text += block(HexDump.lines(files.segment[..<4096]))
        for (index, frame) in files.frames.enumerated() {
            let end =
                index + 1 < files.frames.count
                ? files.frames[index + 1].offset : files.segment.count
            let title = frame.title.prefix(1).uppercased() + frame.title.dropFirst()
            text += "\n\(title):\n\n"
            text += block(HexDump.lines(files.segment[frame.offset..<end]))
        }
        text += """

            ## The first block in words

            Its payload begins at 0x1260: entity 1, schema version 1, 2 rows, 4 columns, no flags, 47 bytes of slices,
            the checksum of head and table. The column table follows at 0x1278, the slices at 0x12c8:

            | offset | bytes | meaning |
            | --- | --- | --- |
            | 0x12c8 | `04 00 00 00` `00` | icao, encoding lengths: base 4, width 0, so both cells have 4 bytes |
            | 0x12cd | `45 44 44 42 4c 53 5a 48` | the cells, EDDB and LSZH |
            | 0x12d5 | `02` | elevation, encoding scaled: scale 2 |
            | 0x12d6 | `8e 12 00 00 00 00 00 00` `02` | base 4750, width 2 |
            | 0x12df | `00 00` `e7 95` | distances 0 and 38375: 4750 / 100 = 47.5 and 43125 / 100 = 431.25 |
            | 0x12e3 | `01 00 00 00 00 00 00 00` `01` `00` `01` | object numbers, encoding narrow: base 1, distances 0 and 1 |
            | 0x12ee | `01 00 00 00 00 00 00 00` `00` | row versions, encoding narrow: base 1, width 0 |


            """
        text += "## Its canonical export\n\n"
        text += block(
            ExampleStore.export.split(separator: "\n").map { String($0) })
        return text
    }

    private static func block(_ lines: [String]) -> String {
        lines.map { "    \($0)\n" }.joined()
    }
}
