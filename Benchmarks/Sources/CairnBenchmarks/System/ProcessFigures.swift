// What the system knows about this process.

import CBlackHole
import Foundation

enum ProcessFigures {
    /// Forgets the most memory that the process has had.
    static func resetPeak() {
        // Not every kernel lets a process do that; the peak is then one of the whole process.
        try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
    }

    /// The most resident memory since it was forgotten, in KiB; mapped files count.
    static var peak: Int { figure("VmHWM:", in: "status") }
    /// Resident memory now, in KiB.
    static var resident: Int { figure("VmRSS:", in: "status") }
    /// The same without mapped files, after the allocator has given back what it can.
    static var anonymous: Int {
        black_hole_trim()
        return figure("RssAnon:", in: "status")
    }
    /// Bytes that the process has caused to be written to a disk.
    static var written: Int { figure("write_bytes:", in: "io") }

    private static func figure(_ name: String, in file: String) -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/\(file)", encoding: .utf8)) ?? ""
        for line in text.split(separator: "\n") where line.hasPrefix(name) {
            return Int(line.filter(\.isNumber)) ?? 0
        }
        return 0
    }
}
