// Which forms of statements are sent to servers, and whether all of the family understand them: PostgreSQL, CockroachDB,
// YugabyteDB, Citus.
//
//   1. A form is a statement with its names, constants, numbers and lists left out.
//   2. Words that not all of them know are refused wherever they stand; so is what makes tables in a transaction that
//      writes rows.
//
// Threads: any.

import Foundation
import Synchronization

package final class StatementForms: Sendable {
    /// What tests have in common; each process of tests has its own.
    package static let shared = StatementForms()

    private struct Transaction {
        var writes = false
        var defines = false
    }

    private struct State {
        var counts: [String: Int] = [:]
        /// By connection: what its open transaction has done.
        var open: [Int32: Transaction] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// How often each form was sent.
    package var counts: [String: Int] { state.withLock { $0.counts } }

    /// Notes what a connection sends in one round trip; gives what is wrong with it.
    package func take(_ connection: Int32, _ statements: [String]) -> [String] {
        state.withLock { state in
            var refusals: [String] = []
            for statement in statements {
                let form = Self.form(statement)
                state.counts[form, default: 0] += 1
                refusals += Self.forbidden(form).map { "\($0) is forbidden: \(form)" }
                let word = form.prefix { $0 != " " }
                switch word {
                case "BEGIN": state.open[connection] = Transaction()
                case "COMMIT", "ROLLBACK": state.open[connection] = nil
                case "INSERT", "UPDATE", "DELETE", "COPY": state.open[connection]?.writes = true
                case "CREATE", "ALTER", "DROP", "COMMENT", "TRUNCATE":
                    state.open[connection]?.defines = true
                default: break
                }
                if let transaction = state.open[connection], transaction.writes,
                    transaction.defines
                {
                    refusals.append("a transaction that makes tables writes rows: \(form)")
                }
            }
            return refusals
        }
    }

    /// A statement without what is different each time.
    package static func form(_ statement: String) -> String {
        var form = ""
        var characters = Array(statement)[...]
        while let first = characters.first {
            switch first {
            case "\"", "'":
                characters = characters.dropFirst()
                while let next = characters.popFirst() {
                    if next == "\\", first == "'" { _ = characters.popFirst() }
                    guard next == first else { continue }
                    // Twice it is one of the text.
                    guard characters.first == first else { break }
                    _ = characters.popFirst()
                }
                form += first == "\"" ? "n" : "'…'"
            case _ where first.isWhitespace:
                characters = characters.drop(while: \.isWhitespace)
                form += " "
            case _ where first.isNumber && form.last?.isLetter != true && form.last != "_":
                characters = characters.drop { $0.isNumber || $0 == "." }
                form += "0"
            default:
                form.append(first)
                characters = characters.dropFirst()
            }
        }
        return shortened(form.trimmingCharacters(in: .whitespaces))
    }

    /// Lists of the same again and again are as one of them.
    private static func shortened(_ form: String) -> String {
        var form = form
        for (long, short) in [
            ("n.n", "n"), ("$0", "$"), ("n, n", "n"), ("$, $", "$"), ("r.n, r.n", "r.n"),
        ] {
            while form.contains(long) { form = form.replacing(long, with: short) }
        }
        return form
    }

    // MARK: What is forbidden

    /// Words that not all databases of the family understand, or that mean something else there.
    private static let words = [
        // Locks that belong to a session, not to rows.
        "pg_advisory", "pg_try_advisory", "LOCK TABLE", "LOCK ONLY",
        // Numbers that come from a single place.
        "nextval", "setval", "currval", "SERIAL", "BIGSERIAL", "IDENTITY", "CREATE SEQUENCE",
        // Constraints that wait for the end of the transaction.
        "DEFERRABLE", "DEFERRED", "SET CONSTRAINTS",
        // Where a row lies, and who has made it.
        "ctid", "xmin", "xmax", "cmin", "tableoid", "pg_current_xact_id", "txid_current",
        "txid_status", "pg_xact_status",
        // Code in the server.
        "CREATE FUNCTION", "CREATE TRIGGER", "CREATE RULE", "CREATE TYPE", "CREATE DOMAIN",
        "CREATE EXTENSION", "DO $",
        // What only one of them has.
        "MERGE INTO", "CLUSTER", "VACUUM", "EXCLUDE USING", "INHERITS",
        "PARTITION BY RANGE", "UNLOGGED", "MATERIALIZED", "PREPARE TRANSACTION",
    ]

    /// The only beginnings of statements that may have these words.
    private static let places: [(word: String, begins: [String])] = [
        ("LISTEN", ["LISTEN n"]), ("UNLISTEN", ["UNLISTEN"]), ("NOTIFY", ["NOTIFY n"]),
        ("pg_notify", ["SELECT pg_notify("]),
        ("TEMP", ["CREATE TEMP TABLE", "CREATE TEMPORARY TABLE"]),
        ("TEMPORARY", ["CREATE TEMPORARY TABLE"]),
    ]

    package static func forbidden(_ form: String) -> [String] {
        func has(_ word: String) -> Bool {
            var rest = form[...]
            while let range = rest.range(of: word, options: .caseInsensitive) {
                let before =
                    range.lowerBound == form.startIndex
                    ? nil : form[form.index(before: range.lowerBound)]
                let after = range.upperBound == form.endIndex ? nil : form[range.upperBound]
                let isWord = { (character: Character?) in
                    character.map { $0.isLetter || $0 == "_" } ?? false
                }
                // "pg_advisory" begins many names.
                if !isWord(before), word.contains("_") || !isWord(after) { return true }
                rest = rest[range.upperBound...]
            }
            return false
        }
        return words.filter(has)
            + places.filter { place in
                has(place.word) && !place.begins.contains { form.hasPrefix($0) }
            }.map(\.word)
    }
}
