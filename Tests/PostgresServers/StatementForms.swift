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
        /// By form: its words that are forbidden.
        var forbidden: [String: [String]] = [:]
        /// By connection: what its open transaction has done.
        var open: [Int32: Transaction] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// How often each form was sent.
    package var counts: [String: Int] { state.withLock { $0.counts } }

    /// Notes what a connection sends in one round trip; gives what is wrong with it.
    package func take(_ connection: Int32, _ statements: [String]) -> [String] {
        let forms = statements.map(Self.form)
        return state.withLock { state in
            var refusals: [String] = []
            for form in forms {
                state.counts[form, default: 0] += 1
                if state.forbidden[form] == nil { state.forbidden[form] = Self.forbidden(form) }
                refusals += state.forbidden[form]!.map { "\($0) is forbidden: \(form)" }
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

    /// A statement without what is different each time. In bytes, since every statement of all tests comes through here.
    package static func form(_ statement: String) -> String {
        let bytes = Array(statement.utf8)
        var form: [UInt8] = []
        form.reserveCapacity(bytes.count)
        var place = 0
        while place < bytes.count {
            let first = bytes[place]
            switch first {
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                place += 1
                while place < bytes.count {
                    let next = bytes[place]
                    place += 1
                    if next == UInt8(ascii: "\\"), first == UInt8(ascii: "'") { place += 1 }
                    guard next == first else { continue }
                    // Twice it is one of the text.
                    guard place < bytes.count, bytes[place] == first else { break }
                    place += 1
                }
                form += first == UInt8(ascii: "\"") ? Array("n".utf8) : Array("'…'".utf8)
            case _ where isSpace(first):
                while place < bytes.count, isSpace(bytes[place]) { place += 1 }
                form.append(UInt8(ascii: " "))
            case _ where isDigit(first) && !(form.last.map(isLetter) ?? false):
                while place < bytes.count,
                    isDigit(bytes[place]) || bytes[place] == UInt8(ascii: ".")
                {
                    place += 1
                }
                form.append(UInt8(ascii: "0"))
            default:
                form.append(first)
                place += 1
            }
        }
        return shortened(form).trimmingCharacters(in: .whitespaces)
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || 9...13 ~= byte
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z")
            || byte == UInt8(ascii: "_") || byte >= 0x80
    }

    /// Lists of the same again and again are as one of them.
    private static func shortened(_ form: [UInt8]) -> String {
        var form = form
        for (long, short) in lists {
            var result: [UInt8] = []
            result.reserveCapacity(form.count)
            for byte in form {
                result.append(byte)
                // What is shortened may be the beginning of another list.
                if byte == long.last, result.count >= long.count,
                    result.suffix(long.count) == long[...]
                {
                    result.removeLast(long.count - short)
                }
            }
            form = result
        }
        return String(decoding: form, as: UTF8.self)
    }

    /// Two of a list, and of how many bytes one of them is, which the two begin with.
    private static let lists: [(long: [UInt8], short: Int)] = [
        ("n.n", "n"), ("$0", "$"), ("n, n", "n"), ("$, $", "$"), ("r.n, r.n", "r.n"),
    ].map { (Array($0.utf8), $1.utf8.count) }

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
