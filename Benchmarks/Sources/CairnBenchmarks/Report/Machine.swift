// Where it was measured, and with what.

import CBenchSQLite
import CLMDB
import Foundation

struct Machine: Codable {
    var processor: String
    var cores: Int
    var memoryGiB: Int
    var system: String
    var kernel: String
    var cairn: String
    var swift: String
    var sqlite: String
    var lmdb: String
    var rocksdb: String

    static var current: Machine {
        Machine(
            processor: line("/proc/cpuinfo", "model name") ?? "unknown processor",
            cores: ProcessInfo.processInfo.activeProcessorCount,
            memoryGiB: Int(
                (Double(ProcessInfo.processInfo.physicalMemory) / 1_073_741_824).rounded()),
            system: line("/etc/os-release", "PRETTY_NAME")?.filter { $0 != "\"" } ?? "Linux",
            kernel: (try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8))?
                .trimmingCharacters(in: .whitespacesAndNewlines) ?? "",
            // Told by the script that runs this.
            cairn: ProcessInfo.processInfo.environment["CAIRN_COMMIT"] ?? "unknown commit",
            swift: ProcessInfo.processInfo.environment["CAIRN_SWIFT"] ?? "unknown version",
            sqlite: String(cString: sqlite3_libversion()),
            lmdb: "\(MDB_VERSION_MAJOR).\(MDB_VERSION_MINOR).\(MDB_VERSION_PATCH)",
            // Its C API does not tell.
            rocksdb: ["MAJOR", "MINOR", "PATCH"].map {
                line("/usr/include/rocksdb/version.h", "#define ROCKSDB_\($0)") ?? "?"
            }.joined(separator: "."))
    }

    var text: String {
        "\(processor), \(cores) cores, \(memoryGiB) GiB, \(system), Linux \(kernel), Swift \(swift)"
    }

    /// The value of the first line that begins with a name.
    private static func line(_ file: String, _ name: String) -> String? {
        let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").first { $0.hasPrefix(name) }.map {
            $0.dropFirst(name.count).drop { " \t:=".contains($0) }
                .trimmingCharacters(in: .whitespaces)
        }
    }
}
