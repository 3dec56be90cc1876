// Ports one file: the rules one after another, then what they remark on in the result.

import SwiftSyntax

/// A file that rules were applied to.
struct FilePort {
    /// The file with its new text.
    let file: SourceFile
    /// What is left, by offsets in the new text.
    let remarks: [Remark]

    /// How often a rule looks at a file until it changes nothing more. Each time it has changed all but what lies inside another
    /// change, so that nobody nests code deep enough to need more.
    private static let mostPasses = 8

    /// Applies the rules; nil if the result is no Swift.
    init?(_ file: SourceFile, _ code: KnownCode, buildsOnApple: Bool) {
        var file = Self.moved(file, code.moves)
        let context = RuleContext(
            code: code, buildsOnApple: buildsOnApple, isInterface: ImportSearch.isInterface(file),
            usesCoreData: CoreDataWords.areIn(file.text, code))
        var remarks: [Remark] = []
        var isFirstText = true
        for rule in RuleList.all {
            for _ in 0..<Self.mostPasses {
                guard let examination = Self.examine(file, rule, context) else { break }
                guard !examination.edits.isEmpty else {
                    remarks += examination.remarks
                    break
                }
                file = file.with(examination.edits)
                isFirstText = false
            }
        }
        // Offsets are those of the text at that time.
        if !isFirstText {
            remarks = RuleList.all.flatMap { Self.examine(file, $0, context)?.remarks ?? [] }
        }
        // Whatever a rule has got wrong must not be written.
        if file.tree.hasError { return nil }
        self.file = file
        self.remarks = remarks.sorted { $0.offset < $1.offset }
    }

    private static func examine(_ file: SourceFile, _ rule: any Rule, _ context: RuleContext)
        -> Examination?
    {
        WordSearch(rule.words).finds(in: file.text) ? rule.examine(file, context) : nil
    }

    /// Moves overrides out of extensions and into classes.
    private static func moved(_ file: SourceFile, _ moves: KnownCode.Moves) -> SourceFile {
        var edits = (moves.outgoing[file.path] ?? []).map(SourceEdit.removal)
        for end in ClassEnds(file.tree).ends {
            guard let texts = moves.incoming[end.type] else { continue }
            // A member has the line break before it, unless it stood on the line of its extension.
            let members = texts.map { text in
                text.utf8.first.map { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") } == true
                    ? text : file.lineEnd + "    " + text
            }
            let closing = end.closesOnNextLine ? "" : file.lineEnd
            edits.append(.insertion(members.joined() + closing, at: end.offset))
        }
        return edits.isEmpty ? file : file.with(edits)
    }
}
