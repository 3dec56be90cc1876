// Finds the process that holds a lock of an open file. Linux only.
//
// The kernel names no process for such a lock, since several processes can share an open file. But
// /proc/<process>/fdinfo/<descriptor> lists the locks of each open file:
//
//     lock:   1: OFDLCK  ADVISORY  WRITE -1 08:01:131122 0 0
//
//   1. For each readable process and each of its descriptors: read the lock lines.
//   2. A line counts if its byte range contains the requested byte.
//   3. The descriptor must refer to the same file (device numbers in the line differ on some disks).
//
// It runs once, when a store turns out to be in use, and is best effort: it skips what it cannot read. If
// several processes share the open file, it returns the first one it finds.

#if os(Linux)

    #if canImport(Glibc)
        internal import Glibc
    #else
        internal import Musl
    #endif
    internal import SystemPackage

    enum LockHolderSearch {
        /// - Parameter own: the caller's descriptor in this process, whose locks do not conflict with its own
        ///   request.
        static func process(
            locking byte: Int64, of file: FileIdentity, except own: CInt
        ) -> Int32? {
            users(of: file, except: own) { $0.hasLocked(byte) }.first?.process
        }

        /// Returns the processes that have locked parts of a file and satisfy the closure; only the first one
        /// if `own` is provided.
        static func users(
            of file: FileIdentity, except own: CInt? = nil, where isWanted: (FileUser) -> Bool
        ) -> [FileUser] {
            let disk = POSIXFileSystem()
            let here = getpid()
            // This process comes last: reading other processes costs little, and the caller looks for them.
            let processes = ((try? disk.list("/proc")) ?? []).compactMap { Int32($0) }
            var found: [FileUser] = []
            for process in processes.filter({ $0 != here }) + [here] {
                let folder = FilePath("/proc/\(process)")
                let descriptors = (try? disk.list(folder.appending("fdinfo"))) ?? []
                for descriptor in descriptors where process != here || CInt(descriptor) != own {
                    let description = SystemText.read(
                        folder.appending("fdinfo").appending(descriptor)
                    )
                    .split(separator: "\n")
                    let user = FileUser(
                        process: process, program: program(of: folder), started: start(of: folder),
                        mayWrite: description.contains(where: isOpenToWrite),
                        locked: description.compactMap(range))
                    guard !user.locked.isEmpty, isWanted(user) else { continue }
                    let target = folder.appending("fd").appending(descriptor)
                    guard (try? disk.identity(of: target)) == file else { continue }
                    found.append(user)
                    if own != nil { return found }
                }
            }
            return found
        }

        /// Returns whether a line lists an open file's lock on the byte.
        static func covers(_ line: Substring, _ byte: Int64) -> Bool {
            range(line)?.contains(byte) ?? false
        }

        /// Returns the byte range that an open file has locked according to a line. Its last two fields are
        /// the first byte and the last one or EOF.
        private static func range(_ line: Substring) -> ClosedRange<Int64>? {
            let fields = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
            guard fields.first == "lock:", fields.count >= 4, fields.contains("OFDLCK"),
                let first = Int64(fields[fields.count - 2])
            else { return nil }
            let end = fields[fields.count - 1]
            let last = end == "EOF" ? Int64.max : Int64(end) ?? -1
            return first <= last ? first...last : nil
        }

        /// Returns whether a line shows that a file is open for writing: it lists the open flags in octal.
        private static func isOpenToWrite(_ line: Substring) -> Bool {
            guard line.hasPrefix("flags:"),
                let flags = Int32(line.dropFirst(6).filter { $0 != " " && $0 != "\t" }, radix: 8)
            else { return false }
            return flags & O_ACCMODE != O_RDONLY
        }

        private static func program(of folder: FilePath) -> String {
            let name = SystemText.read(folder.appending("comm"))
            return String(name.prefix { $0 != "\n" })
        }

        /// Returns when a process was started. The file has clock ticks since boot, after the program name,
        /// which may contain any characters.
        private static func start(of folder: FilePath) -> Double? {
            let fields =
                SystemText.read(folder.appending("stat")).split(separator: ")").last?
                .split(separator: " ") ?? []
            let boot = SystemText.read("/proc/stat").split(separator: "\n")
                .first { $0.hasPrefix("btime ") }.flatMap { Double($0.dropFirst(6)) }
            guard let boot, fields.count > 19, let ticks = Double(fields[19]) else { return nil }
            return boot + ticks / Double(sysconf(CInt(_SC_CLK_TCK)))
        }
    }

#endif
