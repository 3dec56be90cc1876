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
            let disk = POSIXFileSystem()
            let here = getpid()
            // Oneself last: reading another process costs little, and others are who is asked for.
            let processes = ((try? disk.list("/proc")) ?? []).compactMap { Int32($0) }
            for process in processes.filter({ $0 != here }) + [here] {
                let folder = FilePath("/proc/\(process)")
                let descriptors = (try? disk.list(folder.appending("fdinfo"))) ?? []
                for descriptor in descriptors where process != here || Int32(descriptor) != own {
                    let description = text(folder.appending("fdinfo").appending(descriptor))
                    guard description.split(separator: "\n").contains(where: { covers($0, byte) })
                    else { continue }
                    let target = folder.appending("fd").appending(descriptor)
                    if (try? disk.identity(of: target)) == file { return process }
                }
            }
            return nil
        }

        /// Whether a line tells of an open file's lock on the byte. Its last two fields are the first
        /// byte and the last one or EOF.
        static func covers(_ line: Substring, _ byte: Int64) -> Bool {
            let fields = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
            guard fields.first == "lock:", fields.count >= 4, fields.contains("OFDLCK"),
                let first = Int64(fields[fields.count - 2])
            else { return false }
            let end = fields[fields.count - 1]
            let last = end == "EOF" ? Int64.max : Int64(end) ?? -1
            return first <= byte && byte <= last
        }

        /// The first 16 KiB of a file of /proc, whose size is told as 0; empty where it cannot be read.
        private static func text(_ path: FilePath) -> String {
            guard let file = try? POSIXFileSystem().open(path, .read) else { return "" }
            return
                (try? String(unsafeUninitializedCapacity: 16384) { bytes in
                    try file.read(into: UnsafeMutableRawBufferPointer(bytes), at: 0)
                }) ?? ""
        }
    }

#endif
