// The identity of this machine until it restarts.
//
// Two machines may share a disk, and each has its own locks. The kernel creates the identifier at every boot:
// all containers of a machine have the same one, and no other machine has it, not even a clone.

internal import SystemPackage

/// A running machine.
package struct Host: Sendable {
    /// The kernel's identifier of this boot: 128 bits.
    package let high: UInt64
    package let low: UInt64
    /// The host name, for messages: a container has its own.
    package let name: String

    package init(high: UInt64, low: UInt64, name: String) {
        self.high = high
        self.low = low
        self.name = name
    }

    /// Parses the identifier as the kernel writes it: 32 hexadecimal digits with hyphens; returns nil for
    /// anything else.
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
        /// Returns the machine that this process runs on; nil if the kernel does not report it.
        static func current() -> Host? {
            let name = SystemText.read("/proc/sys/kernel/hostname").prefix { $0 != "\n" }
            return Host(
                boot: SystemText.read("/proc/sys/kernel/random/boot_id"),
                name: name.isEmpty ? "unknown" : String(name))
        }
    }
#endif
