// Reads text that the kernel provides in files of /proc. Linux only.

#if os(Linux)

    internal import SystemPackage

    enum SystemText {
        /// More than any such file contains.
        private static let limit = 1 << 24

        /// Returns the content of a file whose reported size is 0; an empty string if it cannot be read.
        static func read(_ path: FilePath) -> String {
            guard let file = try? POSIXFileSystem().open(path, .read) else { return "" }
            var room = 1 << 14
            while true {
                var isWhole = false
                let text = try? String(unsafeUninitializedCapacity: room) { bytes in
                    let count = try file.read(into: UnsafeMutableRawBufferPointer(bytes), at: 0)
                    isWhole = count < bytes.count
                    return count
                }
                guard let text else { return "" }
                if isWhole || room >= limit { return text }
                room *= 4
            }
        }
    }

#endif
