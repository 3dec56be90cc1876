// How a command that writes comes to its turn: how long it waits for others, and on which disks it takes one.

import ArgumentParser
import FoundationEssentials

/// How a command comes to its turn to write.
struct WaitOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How long to wait for another program that writes to the store: 30s, 500ms, 2m; 0 = not at all.",
            discussion:
                "Programs write to a store in turns, commit by commit. In PostgreSQL they wait as long as the server has it (lock_timeout).",
            valueName: "time"))
    var wait = WaitingTime.usual

    @Flag(
        help: ArgumentHelp(
            "Write to a store on a disk that other machines may have too, such as NFS: this one alone uses it.",
            discussion:
                "Locks may not hold on such a disk, so it has to be said. A machine that has the store open to write keeps others out."
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

/// A time that is given as an argument.
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
