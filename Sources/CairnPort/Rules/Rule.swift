// What a rule is: it looks at one file and says what is to be changed, and what is left for a person.
//
//   1. Rules run one after another. Each sees what those before it have written, and runs until it changes nothing.
//   2. Afterwards all rules look once more at the text that is written: what they remark on then is reported.
//
// A rule must not change what it has written: the tool can be run again at any time.

import SwiftSyntax

/// A rule.
protocol Rule: Sendable {
    /// A file without any of these words needs no look.
    var words: [String] { get }

    /// Looks at a file.
    func examine(_ file: SourceFile, _ context: RuleContext) -> Examination
}

/// What a rule found.
struct Examination {
    var edits: [SourceEdit] = []
    var remarks: [Remark] = []
}

/// Something that a person has to change.
struct Remark {
    /// Where, as an offset in UTF-8.
    let offset: Int
    /// What it is.
    let subject: String
    /// Why it does not compile, or means something else.
    let reason: String
    /// What to write instead.
    let advice: String
}

/// What a rule knows besides the file.
struct RuleContext: Sendable {
    let code: KnownCode
    /// Whether what is written must compile on Apple's platforms as well.
    let buildsOnApple: Bool
    /// Whether the file imports a user interface framework, so Linux cannot compile it anyway.
    let isInterface: Bool
    /// Whether the file uses Core Data.
    let usesCoreData: Bool
}

/// A visitor that looks at a file for a rule.
class RuleVisitor: LinuxVisitor {
    let file: SourceFile
    let context: RuleContext
    var result = Examination()

    required init(_ file: SourceFile, _ context: RuleContext) {
        self.file = file
        self.context = context
        super.init()
    }

    /// What the visitor finds in a file.
    static func examine(_ file: SourceFile, _ context: RuleContext) -> Examination {
        let visitor = Self(file, context)
        visitor.walk(file.tree)
        return visitor.result
    }

    func remark(
        _ node: some SyntaxProtocol, _ subject: String, _ reason: String, _ advice: String
    ) {
        result.remarks.append(
            Remark(
                offset: node.bytes.lowerBound, subject: subject, reason: reason, advice: advice))
    }
}
