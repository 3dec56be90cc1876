// A checkpoint that says something else, with all checksums right.

import CairnFormat
import Foundation

@testable import CairnLog

struct EditedCheckpoint {
    var header: CheckpointHeader
    var contents: CheckpointContents
    private let original: [UInt8]
    /// What it was, and parts that were put behind that.
    private var file: [UInt8]

    init(_ bytes: [UInt8]) throws {
        original = bytes
        file = bytes
        header = try bytes.withUnsafeBytes {
            try CheckpointHeader(decoding: $0, fileLength: UInt64($0.count))
        }
        let table = try Self.raw(header.contents, bytes)
        contents = try table.withUnsafeBytes {
            try CheckpointContents(decoding: $0, fileLength: UInt64(bytes.count))
        }
    }

    private static func raw(_ unit: CheckpointUnit, _ bytes: [UInt8]) throws -> [UInt8] {
        var raw = [UInt8](repeating: 0, count: Int(unit.rawLength))
        let stored = Array(bytes[Int(unit.offset)..<Int(unit.offset) + Int(unit.storedLength)])
        try raw.withUnsafeMutableBytes { target in
            try stored.withUnsafeBytes { try unit.expand($0, into: target) }
        }
        return raw
    }

    /// The bytes of a part.
    func raw(_ unit: CheckpointUnit) throws -> [UInt8] { try Self.raw(unit, original) }

    /// Adds a part.
    mutating func put(_ raw: [UInt8]) -> CheckpointUnit {
        var part = ByteWriter()
        let unit = raw.withUnsafeBytes {
            CheckpointUnit.append($0, to: &part, startingAt: UInt64(file.count))
        }
        file += Array(part.bytes)
        return unit
    }

    /// Changes the cells of a part of a directory.
    mutating func changeCells(_ tree: Int, _ part: Int, _ body: (inout [UInt64]) -> Void) throws {
        let unit = contents.trees[tree].cells[part].unit
        contents.trees[tree].cells[part].unit = try changed(unit, body)
    }

    /// Changes the cells of a part of the links of an inverse table.
    mutating func changeLinks(_ index: Int, _ part: Int, _ body: (inout [UInt64]) -> Void) throws {
        let unit = contents.inverses[index].links[part].unit
        contents.inverses[index].links[part].unit = try changed(unit, body)
    }

    /// The cells of leaves are stored as differences.
    private mutating func changed(_ unit: CheckpointUnit, _ body: (inout [UInt64]) -> Void) throws
        -> CheckpointUnit
    {
        var cells: [UInt64] = []
        try raw(unit).withUnsafeBytes { bytes in
            for offset in stride(from: 0, to: bytes.count, by: 8) {
                let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                cells.append((cells.last ?? 0) &+ word)
            }
        }
        body(&cells)
        let words = cells.indices.map { cells[$0] &- ($0 > 0 ? cells[$0 - 1] : 0) }
        return put(words.withUnsafeBytes { Array($0) })
    }

    /// Its bytes.
    mutating func bytes() -> [UInt8] {
        var table = ByteWriter()
        contents.encode(to: &table)
        header.contents = put(Array(table.bytes))
        var head = ByteWriter()
        header.encode(to: &head)
        var result = file
        result.replaceSubrange(0..<CheckpointHeader.size, with: Array(head.bytes))
        return result
    }
}
