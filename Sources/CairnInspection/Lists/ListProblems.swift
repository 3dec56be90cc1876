// All mismatches between a list and an entity, for one error that names them all.

import CairnModel

/// The fields of a list that an entity lacks, and the values that do not fit.
package struct ListProblems: Error, Sendable, Equatable, CustomStringConvertible {
    package let source: String
    package let entity: String
    package let unknown: [FieldBinder.Unknown]
    package let misfits: [ListImport.Misfit]

    /// One sentence per line, with advice.
    package var description: String {
        var lines: [String] = []
        if !unknown.isEmpty {
            lines.append(
                "\(source): \(entity) cannot take \(Self.count(unknown.count, "field")):")
            for field in unknown {
                lines.append("  \(field.field): \(field.reason)")
            }
            let drop = unknown.map { "\($0.field)=" }.joined(separator: ",")
            lines.append(
                "rename with --map field=attribute, or drop: --map '\(drop)'")
        }
        for misfit in misfits {
            var line =
                "\(source):\(misfit.line): record \(misfit.record), field \(misfit.field):"
                + " “\(misfit.text)” does not fit \(entity).\(misfit.attribute)"
                + " of type \(misfit.type.rawValue): \(misfit.reason)"
            if misfit.count > 1 {
                line += " (and in \(Self.count(misfit.count - 1, "more record")))"
            }
            lines.append(line)
        }
        return lines.joined(separator: "\n")
    }

    private static func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }
}
