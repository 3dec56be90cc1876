// How a command gets the write lock: how long it waits, and on which disks.

import ArgumentParser
import FoundationEssentials

/// How a command gets the write lock.
struct WaitOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How long to wait for other programs that write to the store: 30s, 500ms, 2m; 0 = not at all.",
            discussion:
                "Programs take turns writing to a store, commit by commit. In PostgreSQL, the limit is the server's lock_timeout.",
            valueName: "time"))
    var wait = WaitingTime.usual

    @Flag(
        help: ArgumentHelp(
            "Write to a store on a disk that may be shared with other machines, such as NFS.",
            discussion:
                "Locks may not work on such a disk, so confirm that only this machine uses the store. A machine that has it open for writing keeps others out."
        ))
    var sharedDisk = false

    /// How the store is opened.
    var access: StoreAccess {
        var access = StoreAccess()
        access.timeout = wait.seconds
        access.allowsSharedDisk = sharedDisk
        return access
    }
}

/// A time as an argument.
struct WaitingTime: ExpressibleByArgument, CustomStringConvertible {
    let seconds: Double

    static let usual = WaitingTime(seconds: 5)

    init(seconds: Double) { self.seconds = seconds }

    init?(argument: String) {
        let units: [(name: String, seconds: Double)] = [
            ("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600), ("", 1),
        ]
        guard let unit = units.first(where: { argument.hasSuffix($0.name) }),
            let number = Double(argument.dropLast(unit.name.count)), number >= 0, number.isFinite
        else { return nil }
        seconds = number * unit.seconds
    }

    var description: String {
        seconds == seconds.rounded() ? "\(Int(seconds))s" : "\(seconds)s"
    }
}
