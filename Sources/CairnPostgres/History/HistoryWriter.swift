// Writes the changes of a commit into the history, in the commit's transaction and after its number.
//
// A store that keeps no history has the last commits in it all the same, so that other processes are told of them.
//
// Threads: functions of values only.

import CairnModel
import CairnStore
import Foundation

struct HistoryWriter {
    let layout: TableLayout
    let author: String?
    let contextName: String?

    /// The name of the program, as it was started.
    private static let program: String =
        CommandLine.arguments.first.map { URL(filePath: $0).lastPathComponent } ?? ""

    /// How many commits a store keeps that keeps no history, and how many are deleted at once, more or less.
    private static let kept: Int64 = 10_000
    private static let piece = 1000

    /// The statements that write a transaction; none if nothing was changed.
    func statements(_ groups: [PersistentHistoryChanges.Group]) throws(StoreError) -> [Statement] {
        if groups.isEmpty { return [] }
        let store = layout.sql(.store)
        var rows = ChangeRows(layout)
        try rows.add(groups, of: 0)
        return [
            Statement(
                """
                INSERT INTO \(layout.sql(.transactions)) (commit, made, author, context, process, program) \
                SELECT last_commit, $1::double precision, $2::text, $3::text, $4::bigint, $5::text FROM \(store)
                """,
                [
                    .double(Date().timeIntervalSinceReferenceDate),
                    author.map { .text($0) } ?? .null, contextName.map { .text($0) } ?? .null,
                    .int64(Int64(ProcessInfo.processInfo.processIdentifier)), .text(Self.program),
                ]),
            Statement(
                """
                INSERT INTO \(layout.sql(.changes)) (commit, place, entity, kind, content) \
                SELECT s.last_commit, v.place, v.entity, v.kind, v.content FROM \(store) AS s, \
                unnest($1::integer[], $2::smallint[], $3::smallint[], $4::text[]) \
                AS v(place, entity, kind, content)
                """,
                [
                    .array(rows.places), .array(rows.entities), .array(rows.kinds),
                    .array(rows.contents),
                ]),
        ] + (Int.random(in: 0..<Self.piece) == 0 ? forgetting : [])
    }

    /// Deletes what only those need who were told nothing for long, unless a history is kept.
    var forgetting: [Statement] {
        let store = layout.sql(.store)
        let end = "(SELECT history_begins FROM \(store) WHERE NOT keeps_history)"
        return [
            Statement(
                """
                UPDATE \(store) SET history_begins = greatest(history_begins, last_commit - $1) \
                WHERE NOT keeps_history
                """, [.int64(Self.kept)]),
            Statement("DELETE FROM \(layout.sql(.changes)) WHERE commit <= \(end)"),
            Statement("DELETE FROM \(layout.sql(.transactions)) WHERE commit <= \(end)"),
        ]
    }
}
