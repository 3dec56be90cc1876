// How long a command waits for others who write the store.

import ArgumentParser
import FoundationEssentials

/// How long a command waits for its turn to write.
struct WaitOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How long to wait for another program that writes to the store: 30s, 500ms, 2m; 0 = not at all.",
            discussion: "Programs write to a store in turns, commit by commit.",
            valueName: "time"))
    var wait = WaitingTime.usual
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
