// A damaged store, what was salvaged of it, and what it held.

import CairnFileSystem
import CairnFormat
import CairnStore
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog

/// What a salvage made of the files of a store.
struct SalvagedStore {
    let report: SalvageReport
    let text: String
    /// The objects, by entity and number.
    let rows: [String: String]

    /// Salvages; the files must not change, and what comes out must pass every check.
    init(
        _ image: DiskImage, options: SalvageOptions = SalvageOptions(), hashBits: Int = 32
    ) throws {
        let disk = try image.disk()
        var options = options
        options.store = SampleStore.options(on: disk)
        options.store.sizes.hashBits = hashBits
        report = try LogStore.salvage(at: "/store", to: "/new", options: options)
        #expect(try DiskImage(of: disk) == image, "a salvage changes nothing")
        options.store.isReadOnly = true
        let store = try LogStore.open(at: "/new", options: options.store)
        defer { try? store.close() }
        let check = try store.check()
        #expect(check.findings.isEmpty, "\(check.findings)")
        #expect(store.recovery.wasClosed)
        text = try SampleStore.text(store)
        rows = Self.rows(text)
        #expect(report.entities.reduce(0) { $0 + $1.kept } == rows.count)
    }

    /// The lines of an export by entity and number.
    static func rows(_ text: String) -> [String: String] {
        var rows: [String: String] = [:]
        for line in text.split(separator: "\n").dropFirst() {
            guard let end = line.range(of: ",\"version\"") else { continue }
            rows[String(line[..<end.lowerBound])] = String(line)
        }
        return rows
    }

    /// The objects that something was cleared in.
    var touched: Set<String> {
        Set(
            report.losses.filter { $0.kind == .value || $0.kind == .reference }.map {
                "{\"entity\":\"\($0.entity ?? "")\",\"id\":\($0.number ?? 0)"
            })
    }

    /// Every object is one that was there once, apart from what is reported as cleared.
    func expectNothingInvented(_ history: [String], _ comment: String) {
        var known: [String: Set<String>] = [:]
        for text in history {
            for (key, line) in Self.rows(text) { known[key, default: []].insert(line) }
        }
        let touched = touched
        for (key, line) in rows {
            guard let lines = known[key] else {
                Issue.record("\(comment): \(key) was never there")
                continue
            }
            if !touched.contains(key), !lines.contains(line) {
                Issue.record("\(comment): \(line) was never so")
            }
        }
    }

    /// Objects of the last content that are not there as they were.
    func missing(of content: String) -> [String] {
        Self.rows(content).filter { rows[$0.key] != $0.value }.map(\.key).sorted()
    }
}

/// The frames of a segment's bytes.
struct FrameMap {
    struct Entry {
        let range: Range<Int>
        let header: FrameHeader
    }
    let frames: [Entry]

    init(_ bytes: [UInt8]) {
        var frames: [Entry] = []
        var position = SegmentHeader.size
        while position + FrameHeader.size <= bytes.count {
            guard
                let header = try? bytes[position...].withUnsafeBytes({
                    try FrameHeader(decoding: $0)
                })
            else { break }
            frames.append(Entry(range: position..<position + header.frameLength, header: header))
            position += header.frameLength
        }
        self.frames = frames
    }
}
