// What the machine can do at most with the same bytes: the rows as records behind each other.

import CBenchLZ4
import CBlackHole
import Foundation

extension Workload {
    static let limits = [
        Workload(limit: "limit-copy", "limit: copying the rows' bytes in memory") { job in
            let source = records(job.rows)
            let target = UnsafeMutableRawBufferPointer.allocate(
                byteCount: source.count, alignment: 64)
            defer { target.deallocate() }
            source.withUnsafeBytes { target.copyMemory(from: $0) }
            return repeated(job) {
                source.withUnsafeBytes { target.copyMemory(from: $0) }
                black_hole(target.baseAddress)
            }
        },
        Workload(limit: "limit-checksum", "limit: CRC32C of the rows' bytes") { job in
            let source = records(job.rows)
            return repeated(job) {
                let sum = source.withUnsafeBytes { bytes in
                    bytes.baseAddress.map { black_hole_crc32c($0, bytes.count) } ?? 0
                }
                withUnsafePointer(to: sum) { black_hole($0) }
            }
        },
        Workload(limit: "limit-lz4", "limit: LZ4 of the rows' bytes by 64 KiB") { job in
            let source = records(job.rows)
            let room = Int(LZ4_compressBound(64 << 10))
            var target = [CChar](repeating: 0, count: room)
            return repeated(job) {
                source.withUnsafeBytes { bytes in
                    for start in stride(from: 0, to: bytes.count, by: 64 << 10) {
                        let part = UnsafeRawBufferPointer(
                            rebasing: bytes[start..<min(start + 64 << 10, bytes.count)])
                        _ = LZ4_compress_default(
                            part.assumingMemoryBound(to: CChar.self).baseAddress, &target,
                            Int32(part.count), Int32(room))
                    }
                }
                black_hole(target)
            }
        },
        Workload(limit: "limit-write", "limit: write() of the rows' bytes") {
            try write($0, syncs: false)
        },
        Workload(limit: "limit-sync", "limit: write() and fdatasync() of the rows' bytes") {
            try write($0, syncs: true)
        },
    ]

    /// All rows as bytes.
    private static func records(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        let record = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Record.capacity, alignment: 8)
        defer { record.deallocate() }
        guard let base = record.baseAddress else { preconditionFailure("the record has room") }
        for row in Product.rows(count) {
            let length = Record.encode(row, into: base)
            bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: record[..<length]))
        }
        return bytes
    }

    /// Runs a short piece of work until it took long enough to be measured.
    private static func repeated(_ job: Job, _ work: () -> Void) -> Outcome {
        var rounds = 0
        var outcome = job.measure(job.rows) {
            let end = ContinuousClock.now + .milliseconds(200)
            while ContinuousClock.now < end {
                work()
                rounds += 1
            }
        }
        outcome.operations = job.rows * rounds
        return outcome
    }

    private static func write(_ job: Job, syncs: Bool) throws -> Outcome {
        let source = records(job.rows)
        let descriptor = Glibc.open("\(job.folder)/bytes", O_CREAT | O_WRONLY, 0o644)
        precondition(descriptor >= 0, "the file can be made")
        defer { Glibc.close(descriptor) }
        return job.measure(job.rows) {
            source.withUnsafeBytes { bytes in
                for start in stride(from: 0, to: bytes.count, by: 1 << 20) {
                    let part = bytes[start..<min(start + 1 << 20, bytes.count)]
                    let count = Glibc.write(
                        descriptor, part.withUnsafeBytes { $0.baseAddress }, part.count)
                    precondition(count == part.count, "the disk has room")
                }
            }
            if syncs { fdatasync(descriptor) }
        }
    }
}
