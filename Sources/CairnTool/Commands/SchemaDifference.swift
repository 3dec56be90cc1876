// The differences between two models, in words.
//
// Properties are compared by their lines in `ModelDescription`: what looks different to a person is
// different.
//
// Threads: a value.

import CairnModel

/// A difference between two models.
struct SchemaDifference {
    let entity: String
    /// The part of the entity: "attribute size", "unique code"; nil for the entity itself.
    let part: String?
    /// Its description in the first model; nil if it is missing there.
    let first: String?
    /// Its description in the second model; nil if it is missing there.
    let second: String?

    /// The difference as a sentence.
    var sentence: String {
        let subject = part.map { "\(entity): \($0)" } ?? entity
        switch (first, second) {
        case (let first?, nil): return "\(subject) is in A only" + Self.remark(first)
        case (nil, let second?): return "\(subject) is in B only" + Self.remark(second)
        default: return "\(subject) is \(Self.words(first)) in A, \(Self.words(second)) in B"
        }
    }

    private static func remark(_ text: String) -> String { text.isEmpty ? "" : " (\(text))" }

    private static func words(_ text: String?) -> String {
        guard let text, !text.isEmpty else { return "unspecified" }
        return text
    }

    /// Returns the differences, entity by entity in the order of the first model, then the entities only in
    /// the second.
    static func all(_ first: ManagedObjectModel, _ second: ManagedObjectModel) -> [SchemaDifference]
    {
        var differences: [SchemaDifference] = []
        for entity in first.entities {
            guard let other = second.entity(named: entity.name) else {
                differences.append(.init(entity: entity.name, part: nil, first: "", second: nil))
                continue
            }
            let ours = parts(of: entity)
            let theirs = parts(of: other)
            for (part, text) in ours {
                let there = theirs.first { $0.part == part }?.text
                guard there != text else { continue }
                differences.append(
                    .init(entity: entity.name, part: part, first: text, second: there))
            }
            for (part, text) in theirs where !ours.contains(where: { $0.part == part }) {
                differences.append(
                    .init(entity: entity.name, part: part, first: nil, second: text))
            }
        }
        for entity in second.entities where first.entity(named: entity.name) == nil {
            differences.append(.init(entity: entity.name, part: nil, first: nil, second: ""))
        }
        return differences
    }

    /// Returns the parts of an entity: the name of each part, and its description.
    private static func parts(of entity: EntityDescription) -> [(part: String, text: String)] {
        var parts: [(String, String)] = [
            ("the entity", entity.isAbstract ? "abstract" : "not abstract"),
            ("the parent", entity.superentityName ?? "none"),
            ("the class", entity.managedObjectClassName ?? "none"),
        ]
        let lines = ModelDescription(ManagedObjectModel(entities: [entity])).description
            .split(separator: "\n")
        // The first line contains the number of entities, the second the entity's name.
        for line in lines.dropFirst(2) {
            let cells = Self.cells(line)
            // The elements of a composite attribute have no word for their kind.
            let isElement = line.hasPrefix("    ")
            let name = isElement ? cells.prefix(1) : cells.prefix(2)
            let rest = cells.dropFirst(isElement ? 1 : 2)
            parts.append((name.joined(separator: " "), rest.joined(separator: ", ")))
        }
        return parts
    }

    /// Splits a line at two or more spaces.
    private static func cells(_ line: Substring) -> [String] {
        var cells: [String] = []
        var cell = ""
        var spaces = 0
        for character in line {
            if character == " " {
                spaces += 1
                continue
            }
            if spaces > 1, !cell.isEmpty {
                cells.append(cell)
                cell = ""
            } else if spaces == 1 {
                cell.append(" ")
            }
            spaces = 0
            cell.append(character)
        }
        if !cell.isEmpty { cells.append(cell) }
        return cells
    }
}
