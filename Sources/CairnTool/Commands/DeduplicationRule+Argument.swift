// Rules for duplicates on the command line: newest:modified, visits=sum,name=fillNil.

import CairnModel

extension DeduplicationRule {
    /// Parses a rule from the command line.
    ///
    /// - Parameter option: the option that contains it.
    /// - Throws: `Failure` that lists the valid rules.
    init(argument text: String, option: String = "--keep") throws {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        switch (String(parts[0]), parts.count == 2 ? String(parts[1]) : nil) {
        case ("first", nil): self = .first
        case ("last", nil): self = .last
        case ("newest", let name?) where !name.isEmpty: self = .newest(by: name)
        case ("smallest", let name?) where !name.isEmpty: self = .smallest(by: name)
        case ("mostComplete", nil): self = .mostComplete
        case ("nullKey", nil): self = .nullKey
        default:
            throw Failure(
                """
                \(option): unknown rule \(text). The rules are first, last, newest:ATTRIBUTE, \
                smallest:ATTRIBUTE, mostComplete and nullKey
                """, code: .usage)
        }
    }
}

extension FoldingRule {
    /// Parses a list of rules from the command line; returns them by property.
    ///
    /// - Throws: `Failure` that lists the valid rules.
    static func rules(arguments list: String?) throws -> [String: FoldingRule] {
        var rules: [String: FoldingRule] = [:]
        for part in try TermList.parts(list, option: "--fold") {
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard sides.count == 2, !sides[0].isEmpty, let rule = FoldingRule(String(sides[1]))
            else {
                throw Failure(
                    """
                    --fold: \(part) is not a rule. Write property=RULE, where RULE is keep, fillNil, maximum, minimum, sum, \
                    union or newest:ATTRIBUTE
                    """, code: .usage)
            }
            if rules.updateValue(rule, forKey: String(sides[0])) != nil {
                throw Failure("--fold: \(sides[0]) has two rules", code: .usage)
            }
        }
        return rules
    }

    private init?(_ text: String) {
        switch text {
        case "keep": self = .keep
        case "fillNil": self = .fillNil
        case "maximum": self = .maximum
        case "minimum": self = .minimum
        case "sum": self = .sum
        case "union": self = .union
        default:
            guard text.hasPrefix("newest:"), text.count > 7 else { return nil }
            self = .newest(by: String(text.dropFirst(7)))
        }
    }
}
