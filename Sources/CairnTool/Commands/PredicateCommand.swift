// cairn predicate: how a condition is read.

import ArgumentParser
import CairnInspection
import CairnModel

/// Prints the tree of a predicate.
struct PredicateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "predicate", abstract: "Print how a condition is read, or where it is wrong.",
        discussion: """
            The arguments take the place of %@, %K, %d and their like. Numbers, TRUE, FALSE, NULL, \
            texts in quotation marks and lists in braces are what they are in a condition; anything \
            else is a text.

            Ends with 0 if the condition can be read, else with 1.
            """)

    @Argument(help: "The condition, such as \"price < %@ AND name BEGINSWITH[c] 'a'\".")
    var format: String

    @Argument(help: ArgumentHelp("What takes the place of placeholders.", valueName: "argument"))
    var arguments: [String] = []

    @OptionGroup var output: OutputOptions

    func run() throws {
        let console = Console.current
        let node: PredicateNode
        do throws(PredicateFormatError) {
            node = try PredicateNode(format: format, arguments: arguments.map(Self.argument))
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

    /// An argument as a person writes it.
    private static func argument(_ text: String) -> PredicateParser.Argument {
        switch try? ExpressionNode(format: text) {
        case .constant(let value)?: .value(value)
        case .list(let values)?: .list(values)
        default: .value(.string(text))
        }
    }
}
