// One run of one peer in this process, whose memory and writes are then those of the run alone.

import Foundation

enum SingleRun {
    /// What a run prints, as JSON in one line.
    struct Answer: Codable {
        var outcome: Outcome?
        /// Why the peer does not do this.
        var notOffered: String?
    }

    static func main(_ peer: String, _ workload: String, _ rows: String, _ folder: String) throws {
        guard let workload = Workload.named(workload), let rows = Int(rows) else {
            preconditionFailure("a run has a workload and a number of rows")
        }
        // What another run left, or the pause before this one, is not to be measured.
        Folder.readIntoMemory(folder)
        let answer: Answer
        do {
            var outcome =
                switch workload.work {
                case .peer(let work):
                    try work(
                        Job(
                            peer: entry(peer).type, rows: rows, folder: folder,
                            indexes: workload.indexes))
                case .machine(let work):
                    try work(Job(peer: entry(PeerEntry.base).type, rows: rows, folder: folder))
                }
            outcome.writtenBytes += ProcessFigures.written
            outcome.diskBytes = Folder.size(folder)
            answer = Answer(outcome: outcome)
        } catch let error as NotOffered {
            answer = Answer(notOffered: error.reason)
        }
        print(String(decoding: try JSONEncoder().encode(answer), as: UTF8.self))
    }

    private static func entry(_ name: String) -> PeerEntry {
        guard let entry = PeerEntry.named(name) else { preconditionFailure("\(name) is a peer") }
        return entry
    }

    /// Starts a process for one run and waits for what it says.
    static func start(_ peer: String, _ workload: String, rows: Int, folder: String) throws
        -> Answer
    {
        try ask(
            ["--run", peer, workload, "\(rows)", folder],
            failure: "\(peer) failed at \(workload) with \(rows) rows")
    }

    /// Starts a process of this program and waits for what it says.
    static func ask<Answer: Decodable>(_ arguments: [String], failure: String) throws -> Answer {
        let process = Process()
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(description: failure) }
        return try JSONDecoder().decode(Answer.self, from: data)
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }
}
