// Finds the process that holds a lock of an open file. Linux only.
//
// The kernel names no process for such a lock, since several processes can share an open file. But
// /proc/<process>/fdinfo/<descriptor> lists the locks of each open file:
//
//     lock:   1: OFDLCK  ADVISORY  WRITE -1 08:01:131122 0 0
//
//   1. For each readable process: the descriptors whose file has the name of the locked one. A system with servers has
//      tens of thousands of others, and the link that a descriptor is costs little to read.
//   2. Read the lock lines of these.
//   3. A line counts if its byte range contains the requested byte.
//   4. The descriptor must refer to the same file (device numbers in the line differ on some disks).
//
// It runs when a store turns out to be in use, and when a program asks who uses one. It is best effort: it skips what it
// cannot read. Of several processes that share the open file, the holder is the first one it finds.

#if os(Linux)

    #if canImport(Glibc)
        internal import Glibc
    #else
        internal import Musl
    #endif
    internal import SystemPackage

    enum LockHolderSearch {
        /// - Parameter own: the caller's descriptor of the file in this process, whose locks do not conflict with its
        ///   own request.
        static func process(
            locking byte: Int64, of file: FileIdentity, named name: String?, except own: CInt
        ) -> Int32? {
            let here = getpid()
            var holder: Int32?
            forEachLocked(file, named: name) { process, descriptor, open in
                let isHolder =
                    (process != here || descriptor != own)
                    && open.locked.contains { $0.contains(byte) }
                if isHolder { holder = process }
                return !isHolder
            }
            return holder
        }

        /// Returns the processes that have locked parts of a file.
        static func users(of file: FileIdentity, named name: String?) -> [FileUser] {
            var found: [FileUser] = []
            forEachLocked(file, named: name) { process, _, open in
                let folder = FilePath("/proc/\(process)")
                found.append(
                    FileUser(
                        process: process, program: program(of: folder), started: start(of: folder),
                        mayWrite: open.mayWrite, locked: open.locked))
                return true
            }
            return found
        }

        /// What the system tells of an open file.
        private typealias OpenFile = (mayWrite: Bool, locked: [ClosedRange<Int64>])

        /// Calls a closure with each descriptor through which a part of the file is locked, until it returns false.
        private static func forEachLocked(
            _ file: FileIdentity, named name: String?, _ body: (Int32, CInt, OpenFile) -> Bool
        ) {
            let name = name.map { [CChar]($0.utf8CString.dropLast()) }
            let disk = POSIXFileSystem()
            let here = getpid()
            // This process comes last: reading other processes costs little, and the caller looks for them.
            let processes = ((try? disk.list("/proc")) ?? []).compactMap { Int32($0) }
            for process in processes.filter({ $0 != here }) + [here] {
                for descriptor in descriptors(of: process, named: name) {
                    let lines = SystemText.read(
                        FilePath("/proc/\(process)/fdinfo/\(descriptor)")
                    )
                    .split(separator: "\n")
                    let locked = lines.compactMap(range)
                    guard !locked.isEmpty,
                        let found = try? disk.identity(
                            of: FilePath("/proc/\(process)/fd/\(descriptor)")),
                        found == file
                    else { continue }
                    let open = (lines.contains(where: isOpenToWrite), locked)
                    guard body(process, descriptor, open) else { return }
                }
            }
        }

        // MARK: Descriptors

        /// The longest target of a link that is read; a longer one may end in any name.
        private static let longestTarget = 4096
        /// What follows the path of a file that was deleted.
        private static let deletionMark = [CChar](" (deleted)".utf8CString.dropLast())

        /// Returns the descriptors of a process whose file has a name; all of them if it is nil.
        private static func descriptors(of process: Int32, named name: [CChar]?) -> [CInt] {
            guard let folder = opendir("/proc/\(process)/fd") else { return [] }
            defer { closedir(folder) }
            var found: [CInt] = []
            withUnsafeTemporaryAllocation(of: CChar.self, capacity: longestTarget) { target in
                while let entry = readdir(folder) {
                    // By address: the entry may be shorter than its type, so a copy would read out of bounds.
                    let offset = MemoryLayout<dirent>.offset(of: \.d_name)!
                    let text = (UnsafeRawPointer(entry) + offset)
                        .assumingMemoryBound(to: CChar.self)
                    if let name {
                        let count = readlinkat(
                            dirfd(folder), text, target.baseAddress!, target.count)
                        guard count > 0,
                            count == target.count
                                || lastComponent(target[..<count]).elementsEqual(name)
                        else { continue }
                    }
                    if let number = CInt(String(cString: text)) { found.append(number) }
                }
            }
            return found
        }

        /// Returns the name at the end of a link's target.
        private static func lastComponent(
            _ target: Slice<UnsafeMutableBufferPointer<CChar>>
        ) -> Slice<UnsafeMutableBufferPointer<CChar>> {
            let isDeleted = target.suffix(deletionMark.count).elementsEqual(deletionMark)
            let path = isDeleted ? target.dropLast(deletionMark.count) : target
            let slash = CChar(UInt8(ascii: "/"))
            guard let start = path.lastIndex(of: slash) else { return path }
            return path[(start + 1)...]
        }

        // MARK: Lines

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
