// The memory that this process may use: that of the machine, or less if a control group limits it, as it does
// for a container or a service.

import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The memory that a process may use.
struct UsableMemory {
    /// The list of the control groups that the process is in.
    var groups = FilePath("/proc/self/cgroup")
    /// The folder in which control groups are mounted.
    var mount = FilePath("/sys/fs/cgroup")

    /// The memory that this process may use, in bytes; nil if the system does not tell.
    static let bytes: Int? = {
        let pages = sysconf(Int32(_SC_PHYS_PAGES))
        let size = sysconf(Int32(_SC_PAGESIZE))
        guard pages > 0, size > 0 else { return nil }
        return min(pages * size, UsableMemory().limit ?? .max)
    }()

    /// The smallest limit of the process's control groups and those above them, in bytes; nil if none has a limit.
    var limit: Int? {
        var limits: [Int] = []
        for line in text(groups).split(separator: "\n") {
            // Number, controllers, path. Version 2 has neither number nor controllers.
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { continue }
            if parts[1].isEmpty {
                limits += self.limits(of: parts[2], in: mount, "memory.max")
                limits += self.limits(of: parts[2], in: mount, "memory.high")
            } else if parts[1].split(separator: ",").contains("memory") {
                limits += self.limits(
                    of: parts[2], in: mount.appending("memory"), "memory.limit_in_bytes")
            }
        }
        return limits.min()
    }

    /// The limits of a group and those above it. In a container, its own group is the root.
    private func limits(of group: Substring, in root: FilePath, _ file: String) -> [Int] {
        var folders = [root]
        for part in group.split(separator: "/") {
            folders.append(folders[folders.count - 1].appending(String(part)))
        }
        // Where there is no limit, the file says "max".
        return folders.compactMap { Int(text($0.appending(file)).prefix { $0 != "\n" }) }
    }

    /// The text of a small file; empty if it cannot be read.
    private func text(_ path: FilePath) -> String {
        guard let file = try? FileDescriptor.open(path, .readOnly, options: .closeOnExec) else {
            return ""
        }
        defer { try? file.close() }
        var text: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4096)
        // The system writes such a file as it is read, a part at a time.
        while text.count < 1 << 20,
            let count = try? part.withUnsafeMutableBytes({ try file.read(into: $0) }), count > 0
        {
            text += part[..<count]
        }
        return String(decoding: text, as: UTF8.self)
    }
}
