// cairn predicate: shows how a condition is parsed.

import ArgumentParser
import CairnInspection
import CairnModel

/// Prints the tree of a predicate.
struct PredicateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "predicate", abstract: "Show how a condition is parsed, or where it is wrong.",
        discussion: """
            The arguments replace %@, %K, %d and so on. Numbers, TRUE, FALSE, NULL, quoted strings \
            and lists in braces are read as in a condition; anything else is a string.

            The exit code is 0 if the condition is valid, otherwise 1.

            Example:
              cairn predicate "price < %@ AND name BEGINSWITH[c] %@" 10 a
            """)

    // Both may begin with a hyphen.
    @Argument(
        parsing: .allUnrecognized,
        help: ArgumentHelp(
            "The condition, such as \"price < %@ AND name BEGINSWITH[c] 'a'\", then the arguments for its placeholders.",
            valueName: "format> <argument"))
    var words: [String]

    @OptionGroup var output: OutputOptions

    /// The words without the "--" after which there are no options.
    private var given: [String] {
        guard let end = words.firstIndex(of: "--") else { return words }
        return Array(words[..<end] + words[(end + 1)...])
    }

    func validate() throws {
        let options = words.prefix { $0 != "--" }
        if let option = options.first(where: { $0.hasPrefix("--") && !$0.contains(" ") }) {
            throw ValidationError("Unknown option '\(option)'")
        }
        if given.isEmpty { throw ValidationError("Missing expected argument '<format>'") }
    }

    func run() throws {
        let console = Console.current
        let node: PredicateNode
        let format = given[0]
        let arguments = try given.dropFirst().map(Self.argument)
        do throws(PredicateFormatError) {
            node = try PredicateNode(format: format, arguments: arguments)
        } catch {
            var failure = Failure(output.json ? error.message : error.explanation)
            failure.details = [
                .init(key: "offset", value: error.offset.map { .count($0) } ?? .null),
                .init(key: "format", value: .string(format)),
            ]
            throw failure
        }
        if output.json {
            console.print(PredicateOutline(node).json.line)
        } else {
            console.print(node.predicateFormat)
            for line in PredicateOutline(node).lines { console.print(line) }
        }
    }

    /// Parses an argument from the command line.
    ///
    /// - Throws: `Failure` for braces around anything except values.
    private static func argument(_ text: String) throws -> PredicateParser.Argument {
        switch try? ExpressionNode(format: text) {
        case .constant(let value)?: return .value(value)
        case .list(let values)?: return .list(values)
        default:
            let whole = text.filter { $0 != " " }
            if whole.hasPrefix("{"), whole.hasSuffix("}") {
                throw Failure(
                    "the argument \(text) is not a list of values: quote each string in it, or all of it if it is a single string"
                )
            }
            return .value(.string(text))
        }
    }
}
