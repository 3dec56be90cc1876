// How a long command reports progress.

import ArgumentParser
import CairnInspection

/// Whether a command reports progress.
struct ProgressOptions: ParsableArguments {
    @Flag(help: "Report progress on standard error even if it is not a terminal.")
    var progress = false

    /// Returns a progress reporter: one line on a terminal, elsewhere a line per tenth if requested.
    func teller(_ console: Console) -> ProgressTeller {
        ProgressTeller(console, isForced: progress)
    }
}

/// Reports the progress of a command.
final class ProgressTeller {
    private let console: Console
    private let isForced: Bool
    private var last = ""

    fileprivate init(_ console: Console, isForced: Bool) {
        self.console = console
        self.isForced = isForced
    }

    /// Reports the completed part of a stage.
    func tell(_ stage: String, _ done: Int, _ total: Int) {
        if console.showsProgress {
            let share = total > 0 ? Int(Double(done) * 100 / Double(total)) : 100
            return console.progress("\(stage): \(share) %")
        }
        guard isForced else { return }
        let tenths = total > 0 ? Int(Double(done) * 10 / Double(total)) : 10
        let line = "\(stage): \(tenths * 10) %"
        if line != last { console.printError(line) }
        last = line
    }

    /// Removes the progress line.
    func end() { console.endProgress() }
}
