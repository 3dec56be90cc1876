// How a long command reports progress.

import ArgumentParser
import CairnInspection

/// Whether a command says how far it is.
struct ProgressOptions: ParsableArguments {
    @Flag(help: "Report progress on standard error even if it is not a terminal.")
    var progress = false

    /// What tells a stage: on a terminal one line, elsewhere a line for every tenth if that is asked for.
    func teller(_ console: Console) -> ProgressTeller {
        ProgressTeller(console, isForced: progress)
    }
}

/// Tells how far a command is.
final class ProgressTeller {
    private let console: Console
    private let isForced: Bool
    private var last = ""

    fileprivate init(_ console: Console, isForced: Bool) {
        self.console = console
        self.isForced = isForced
    }

    /// Says that so much of a stage is done.
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

    /// Takes the line away.
    func end() { console.endProgress() }
}
