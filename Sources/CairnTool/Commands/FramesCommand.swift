// cairn frames: what is inside the files of a store.

import ArgumentParser
import CairnInspection
import CairnLog

/// Prints each frame of the log.
struct FramesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "frames", abstract: "Print each frame of a store's files.",
        discussion: """
            It opens no store and takes no lock, so it also shows what is in one that does not \
            open. Where the chain of frames breaks it says so, and goes on looking behind. \
            It does not judge: cairn check does.
            """)

    @OptionGroup var place: FolderArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        let console = Console.current
        let folder = try place.folder(for: .frames)
        if !output.json {
            console.print("segment      offset     bytes  commit  frame     what it holds")
        }
        try FrameListing.forEach(at: folder) { frame in
            console.print(output.json ? Self.json(frame).line : Self.line(frame))
        }
    }

    private static func line(_ frame: FrameSummary) -> String {
        let cells = [
            pad("\(frame.segment)", 7, left: true), pad("\(frame.offset)", 10, left: true),
            pad("\(frame.length)", 8, left: true), pad("\(frame.commit)", 6, left: true),
            pad(frame.kind, 8, left: false),
            frame.problem.map { "!! \($0)" } ?? frame.note,
        ]
        var line = cells.joined(separator: "  ")
        while line.last == " " { line.removeLast() }
        return line
    }

    private static func pad(_ text: String, _ width: Int, left: Bool) -> String {
        let space = String(repeating: " ", count: max(0, width - text.count))
        return left ? space + text : text + space
    }

    private static func json(_ frame: FrameSummary) -> JSONValue {
        .object([
            "segment": .count(frame.segment), "offset": .count(frame.offset),
            "bytes": .count(frame.length), "commit": .count(frame.commit),
            "kind": .string(frame.kind), "problem": .text(frame.problem),
            "note": .string(frame.note),
        ])
    }
}
