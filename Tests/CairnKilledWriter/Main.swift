// A process that writes until it is killed, and says what it has done.
//
//   CairnKilledWriter STORE DURABILITY[,history] SEED[+FIRST] SESSION COMMITS…
//
// It opens the store, writes on as many threads as there are numbers of COMMITS (how many commits each has made
// before), closes the store after SESSION commits of each, and begins again. What it says on standard output,
// each a line in one write. With FIRST it shares the store with others like it, waits for its turn, and its threads are
// those from FIRST on.
//
//   opened             the store is open                 done T N         thread T's commit N returned
//   compacting         it is about to be compacted
//   closing            it is about to be closed          closed           it is
//   failed …           what must not happen; the process ends
//
//   CairnKilledWriter STORE migrate GATE
//
// It leads the store to the next version of its model. If GATE is not empty it is a pipe: at each stage it waits until
// somebody has opened that to write, and closed it.
//
//   at STAGE           it begins a stage             migrated           the store is of the new model
//
//   CairnKilledWriter STORE share …
//
// It does to a store that others write too what chance wants: see Sharer.
//
// Threads: as many as asked for; lines are shorter than what a pipe takes at once.

import CairnLog
import CairnTestSupport
import Foundation

@main
enum KilledWriter {
    static func main() {
        let arguments = CommandLine.arguments
        if arguments.count == 4, arguments[2] == "migrate" {
            migrate(arguments[1], gate: arguments[3])
            return
        }
        if arguments.count > 2, arguments[2] == "share" {
            Sharer.run(arguments)
            return
        }
        guard arguments.count > 5, let kind = arguments[2].split(separator: ",").first,
            let durability = LogStoreOptions.Durability(rawValue: String(kind)),
            let seed = UInt64(arguments[3].prefix { $0 != "+" }), let session = Int(arguments[4])
        else { fail("wrong arguments") }
        let first = Int(arguments[3].drop { $0 != "+" }.dropFirst())
        var commits = arguments[5...].map { Int($0) ?? 0 }
        var round = 0
        while true {
            round += 1
            do {
                let store = try WriterStore.open(
                    arguments[1], durability,
                    tracksHistory: arguments[2].hasSuffix(",history") ? true : nil,
                    timeout: first == nil ? 0.25 : 120)
                say("opened")
                let start = commits
                TestThreads.run(start.count) { thread in
                    write(
                        on: store,
                        WriterModel(
                            seed: seed, thread: (first ?? 0) + thread, commits: start[thread]),
                        times: session)
                }
                for thread in commits.indices { commits[thread] += session }
                if round % 3 == 0 {
                    say("compacting")
                    _ = try store.compact()
                }
                say("closing")
                try store.close()
                say("closed")
            } catch {
                fail("\(error)")
            }
        }
    }

    private static func write(on store: LogStore, _ start: WriterModel, times: Int) {
        var model = start
        for _ in 0..<times {
            do {
                try WriterStore.carryOut(model.advance(), model.thread, store)
            } catch {
                fail("thread \(model.thread), commit \(model.commits): \(error)")
            }
            say("done \(model.thread) \(model.commits)")
        }
    }

    private static func migrate(_ path: String, gate: String) {
        do {
            try WriterStore.migrate(path) { stage in
                say("at \(stage)")
                if !gate.isEmpty { pass(gate) }
            }
            say("migrated")
        } catch {
            fail("\(error)")
        }
    }

    /// Waits until somebody has opened a pipe to write, and closed it.
    private static func pass(_ gate: String) {
        let file = Foundation.open(gate, O_RDONLY)
        guard file >= 0 else { fail("the gate cannot be opened") }
        var byte: UInt8 = 0
        while read(file, &byte, 1) > 0 {}
        close(file)
    }

    static func say(_ line: String) {
        var text = line + "\n"
        text.withUTF8 { bytes in
            // Nobody listens any more: then nothing is left to be done.
            if Foundation.write(1, bytes.baseAddress, bytes.count) != bytes.count { exit(1) }
        }
    }

    static func fail(_ what: String) -> Never {
        say("failed \(what.prefix(400).replacingOccurrences(of: "\n", with: " "))")
        exit(3)
    }
}
