// What the store in an image of its folder holds.

import CairnFileSystem
import CairnFormat
import CairnStore
import CairnTestSupport
import SystemPackage

@testable import CairnLog

extension DiskImage {
    /// The store's content, read on a disk of its own; what recovery said comes with it.
    func content(
        _ body: (LogStore) throws -> Void = { _ in }
    ) throws -> (text: String, recovery: RecoveryReport) {
        var options = SampleStore.options(on: try disk())
        options.isReadOnly = true
        let store = try LogStore.open(at: "\(Self.folder)", options: options)
        let text = try SampleStore.text(store)
        try body(store)
        try store.close()
        return (text, store.recovery)
    }
}

extension SampleStore {
    /// A store on a new disk in memory after some of the steps; the content after each, the first of the new
    /// store; and the files after each as a crash would leave them.
    static func history(
        steps: Int = Self.steps.count, segmentBytes: UInt64 = 1 << 30, closes: Bool = true
    ) throws -> (contents: [String], images: [DiskImage], closed: DiskImage) {
        let disk = MemoryFileSystem()
        let store = try LogStore.open(
            at: "\(DiskImage.folder)", schema: try schema(),
            options: options(on: disk, segmentBytes: segmentBytes))
        var contents = [try text(store)]
        var images = [try DiskImage(of: disk)]
        for step in Self.steps[..<steps] {
            try step(store)
            contents.append(try text(store))
            images.append(try DiskImage(of: disk))
        }
        try store.close()
        return (contents, images, try DiskImage(of: disk))
    }
}

extension DiskImage {
    /// Makes the checksum of a segment's header right again.
    mutating func sealHeader(_ name: String) {
        guard let bytes = files[name] else { return }
        let checksum = bytes[..<4092].withUnsafeBytes { Checksum.crc32c($0) }
        withUnsafeBytes(of: checksum.littleEndian) {
            files[name]?.replaceSubrange(4092..<4096, with: $0)
        }
    }
}
