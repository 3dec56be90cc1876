// The names of checkpoint files.                                                Format 85, F-851

package enum CheckpointName {
    private static let prefix = "checkpoint-"
    private static let digits = 20

    /// Returns the name of the checkpoint of a commit: "checkpoint-" and twenty digits.
    package static func name(of commit: UInt64) -> String {
        let text = String(commit)
        return prefix + String(repeating: "0", count: digits - text.utf8.count) + text
    }

    /// Returns the commit in a file's name; nil if it is not the name of a checkpoint.
    package static func commit(in name: String) -> UInt64? {
        guard name.hasPrefix(prefix), name.utf8.count == prefix.utf8.count + digits else {
            return nil
        }
        let text = name.dropFirst(prefix.count)
        guard text.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 }) else { return nil }
        return UInt64(text)
    }
}
