// cairn frames: lists the frames of a store's files.

import ArgumentParser
import CairnInspection
import CairnLog

/// Prints each frame of the log.
struct FramesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "frames", abstract: "List the frames of a store's files.",
        discussion: """
            Does not open the store or take a lock, so it works on stores that cannot be opened. \
            Where the chain of frames breaks, it says so and continues after the break. It only \
            lists frames; use cairn check to verify them.

            Example:
              cairn frames shop.cairn
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
