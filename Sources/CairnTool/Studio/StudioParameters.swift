// The parameters of a request, by name: an unexpected one is an error, so that no typo goes unnoticed.
//
// Threads: values.

import CairnInspection
import CairnStudio

/// The parameters of a request.
struct StudioParameters {
    private let all: [(name: String, value: String)]

    /// - Throws: `Failure` for an unknown name.
    init(_ request: StudioRequest, known: [String]) throws {
        all = request.parameters
        for (name, _) in all where !known.contains(name) {
            throw Failure(
                "there is no parameter \(PlainText.visible(name)) here"
                    + (known.isEmpty ? "" : ", only \(known.joined(separator: ", "))"),
                code: .usage)
        }
    }

    /// Returns the values of a name, in their order.
    func values(_ name: String) -> [String] { all.filter { $0.name == name }.map(\.value) }

    /// Returns the value of a name; nil if it is missing or empty.
    func text(_ name: String) throws -> String? {
        let values = values(name)
        guard values.count < 2 else {
            throw Failure("the parameter \(name) is there twice", code: .usage)
        }
        return values.first.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the value of a required name.
    func need(_ name: String) throws -> String {
        guard let text = try text(name) else {
            throw Failure("the parameter \(name) is missing", code: .usage)
        }
        return text
    }

    /// Returns a number in a range.
    func number(_ name: String, in range: ClosedRange<Int>, or usual: Int) throws -> Int {
        guard let text = try text(name) else { return usual }
        guard let number = Int(text), range.contains(number) else {
            throw Failure(
                "the parameter \(name) is a number from \(range.lowerBound) to \(range.upperBound), not \(PlainText.visible(text))",
                code: .usage)
        }
        return number
    }

    /// Returns whether a flag is set: `=1`.
    func flag(_ name: String) throws -> Bool {
        switch try text(name) {
        case nil, "0": return false
        case "1": return true
        case let other?:
            throw Failure(
                "the parameter \(name) is 1 or 0, not \(PlainText.visible(other))", code: .usage)
        }
    }
}
