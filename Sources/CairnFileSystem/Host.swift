// Which machine this is, as long as it runs.
//
// Two machines may share a disk, and each has locks of its own. The identifier is the kernel's, made anew at every start of
// it: all containers of a machine have the same one, and no other machine has it, also none that was cloned.

internal import SystemPackage

/// A machine that runs.
package struct Host: Sendable {
    /// What the kernel called this run of itself: 128 bits.
    package let high: UInt64
    package let low: UInt64
    /// What it is called, for messages: a container has a name of its own.
    package let name: String

    package init(high: UInt64, low: UInt64, name: String) {
        self.high = high
        self.low = low
        self.name = name
    }

    /// Reads the identifier as the kernel writes it: 32 digits of base 16, with hyphens; nil if it is something else.
    package init?(boot text: some StringProtocol, name: String) {
        let digits = text.utf8.filter { $0 > 0x20 && $0 != UInt8(ascii: "-") }
        guard digits.count == 32,
            let high = UInt64(String(decoding: digits[..<16], as: UTF8.self), radix: 16),
            let low = UInt64(String(decoding: digits[16...], as: UTF8.self), radix: 16)
        else { return nil }
        self.init(high: high, low: low, name: name)
    }
}

#if os(Linux)
    extension Host {
        /// The machine that this process runs on; nil if the kernel does not say it.
        static func current() -> Host? {
            let name = SystemText.read("/proc/sys/kernel/hostname").prefix { $0 != "\n" }
            return Host(
                boot: SystemText.read("/proc/sys/kernel/random/boot_id"),
                name: name.isEmpty ? "unknown" : String(name))
        }
    }
#endif
