// The limits of control groups.

import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog

@Suite("The memory that a process may use")
struct UsableMemoryTests {
    /// The limit that a process has.
    ///
    /// - Parameters:
    ///   - groups: the groups that the process is in, as the system lists them.
    ///   - files: the files of the groups, by path.
    private func limit(_ groups: String, _ files: [String: String]) throws -> Int? {
        try withTemporaryDirectory { directory in
            let mount = directory.url.appending(path: "mount")
            for (path, text) in files {
                let file = mount.appending(path: path)
                try FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(text.utf8).write(to: file)
            }
            let list = directory.url.appending(path: "list")
            try Data(groups.utf8).write(to: list)
            return UsableMemory(groups: FilePath(list.path), mount: FilePath(mount.path)).limit
        }
    }

    @Test("No group, none of memory, and groups without a limit")
    func unlimited() throws {
        #expect(try limit("", [:]) == nil)
        #expect(try limit("0::/\n", [:]) == nil)
        #expect(try limit("0::/user/app\n", ["user/app/memory.max": "max\n"]) == nil)
        #expect(try limit("1:cpu:/\n:\nbroken\n", ["memory.max": "5\n"]) == nil)
    }

    @Test("The smallest limit of a group and those above it")
    func version2() throws {
        let files = [
            "user/memory.max": "1000\n", "user/app/memory.max": "3000\n", "other/memory.max": "1\n",
        ]
        #expect(try limit("0::/user/app\n", files) == 1000)
        #expect(try limit("0::/user/app/\n", files) == 1000)
        // Beyond this, the system slows a process down.
        #expect(
            try limit("0::/app\n", ["app/memory.max": "max\n", "app/memory.high": "700\n"]) == 700)
        // A container sees its own group as the root.
        #expect(try limit("0::/\n", ["memory.max": "536870912\n"]) == 536_870_912)
    }

    @Test("The group of a process in many others")
    func long() throws {
        let groups = (1...200).map { "\($0):name\($0):/\(String(repeating: "x", count: 60))\n" }
        #expect(try limit(groups.joined() + "0::/app\n", ["app/memory.max": "9\n"]) == 9)
    }

    @Test("Version 1 has a folder for each controller")
    func version1() throws {
        let groups = "9:name=systemd:/\n4:cpu,memory:/docker/ab:cd\n1:cpu:/\n0::/\n"
        #expect(
            try limit(groups, ["memory/docker/ab:cd/memory.limit_in_bytes": "77\n"]) == 77)
        #expect(
            try limit(
                groups,
                ["memory/memory.limit_in_bytes": "9223372036854771712\n", "memory.max": "99\n"])
                == 99)
    }
}
