// A process that has a file open and parts of it locked.

/// Who has a file open, as far as the system tells.
package struct FileUser: Sendable {
    package let process: Int32
    /// The name of its program.
    package let program: String
    /// When the process was started, in seconds since 1970; nil where that is not told.
    package let started: Double?
    /// Whether it may write to the file.
    package let mayWrite: Bool
    /// The first and the last byte of each range that it has locked.
    package let locked: [ClosedRange<Int64>]

    package func hasLocked(_ byte: Int64) -> Bool { locked.contains { $0.contains(byte) } }
}
