// Finds the process behind a lock of an open file. Linux only.
//
// The kernel names no process for such a lock, since an open file can be shared by several. But
// /proc/<process>/fdinfo/<descriptor> shows the locks of each open file:
//
//     lock:   1: OFDLCK  ADVISORY  WRITE -1 08:01:131122 0 0
//
//   1. For every process we may look into and each of its descriptors: read the lock lines.
//   2. A line counts if its byte range holds the byte asked for.
//   3. The descriptor must lead to the same file (device numbers in the line differ on some disks).
//
// It is run once, when a store turns out to be in use, and is best effort: what cannot be read is
// passed over. Of several processes that share the open file, the first found is told.

#if os(Linux)

    #if canImport(Glibc)
        internal import Glibc
    #else
        internal import Musl
    #endif
    internal import SystemPackage

    enum LockHolderSearch {
        /// - Parameter own: the asker's descriptor in this process, whose locks are not in its way.
        static func process(
            locking byte: Int64, of file: FileIdentity, except own: CInt
        ) -> Int32? {
            users(of: file, except: own) { $0.hasLocked(byte) }.first?.process
        }

        /// Those who have something of a file locked, and whom the closure takes; only the first of them if `own` is given.
        static func users(
            of file: FileIdentity, except own: CInt? = nil, where isWanted: (FileUser) -> Bool
        ) -> [FileUser] {
            let disk = POSIXFileSystem()
            let here = getpid()
            // Oneself last: reading another process costs little, and others are who is asked for.
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

        /// Whether a line tells of an open file's lock on the byte.
        static func covers(_ line: Substring, _ byte: Int64) -> Bool {
            range(line)?.contains(byte) ?? false
        }

        /// The bytes that a line says an open file has locked. Its last two fields are the first byte and the last one or EOF.
        private static func range(_ line: Substring) -> ClosedRange<Int64>? {
            let fields = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
            guard fields.first == "lock:", fields.count >= 4, fields.contains("OFDLCK"),
                let first = Int64(fields[fields.count - 2])
            else { return nil }
            let end = fields[fields.count - 1]
            let last = end == "EOF" ? Int64.max : Int64(end) ?? -1
            return first <= last ? first...last : nil
        }

        /// Whether a line says that a file is open to be written: how it was opened, in octal.
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

        /// When a process was started: ticks since the machine was, behind the name, which may have any characters.
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
