// A process that has a file open and has locked parts of it.

/// A process that has a file open, as far as the system reports it.
package struct FileUser: Sendable {
    package let process: Int32
    /// The name of the process's program.
    package let program: String
    /// When the process was started, in seconds since 1970; nil if the system does not report it.
    package let started: Double?
    /// Whether the process may write to the file.
    package let mayWrite: Bool
    /// The first and the last byte of each range that the process has locked.
    package let locked: [ClosedRange<Int64>]

    package func hasLocked(_ byte: Int64) -> Bool { locked.contains { $0.contains(byte) } }
}
