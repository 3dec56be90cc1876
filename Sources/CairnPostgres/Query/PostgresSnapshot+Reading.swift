// Reads with typed columns: objects that match, objects with a key, or members of a relationship.
//
//   1. The server is asked for the columns that are read, and for no others.
//   2. Its answers come some thousand rows at a time (`Questions.stream`), so that no answer is in memory as a whole.
//   3. Cells go from the answer into columns as they are (`AnswerBatch`).
//
// Keys and owners go to the server some thousand at a time, each with its place among all.
//
// Threads: any.

import CairnLog
import CairnModel
import CairnStore

extension PostgresSnapshot {
    /// The maximum number of keys or owners per query, which is also limited by their size in bytes.
    private static let placesAtOnce = 16_384
    private static let bytesAtOnce = 4 << 20

    func readBatches(_ request: StoreRead, _ body: (borrowing RowBatch) -> Bool)
        throws(StoreError)
    {
        try check(request.entity, request.columns)
        var fetch = request.fetch
        fetch.entity = request.entity.index
        let (evaluation, query) = try asked(fetch)
        // What is looked at again needs whole rows.
        guard query.isWhole else { return try readBatchesGenerally(request, body) }
        if fetch.limit == 0 { return }
        try evaluation.checkCancelled()
        let list = AnswerBatch.list(
            ConditionTranslator.rootName, request.entity, request.columns, core.layout)
        var batch = AnswerBatch(request.entity, request.columns, identity, first: 0)
        var position = 0
        var goesOn = true
        try reading.stream(query.rows(list)) { result throws(StoreError) in
            try evaluation.checkCancelled()
            do throws(SQLFailure) {
                for row in 0..<result.rowCount {
                    guard try batch.take(result, row, position: position, body) else {
                        goesOn = false
                        return false
                    }
                    position += 1
                }
            } catch {
                throw StoreError(error)
            }
            return true
        }
        if goesOn { batch.finish(body) }
    }

    // MARK: Keys

    func lookUpBatches(
        _ request: StoreLookup, keys: (borrowing RowWriter) -> Bool,
        _ body: (borrowing RowBatch) -> Bool
    ) throws(StoreError) {
        try check(request.entity, request.columns)
        guard let constraint = request.constraint else { throw request.noConstraint }
        guard let lookup = KeyLookup(constraint, request, core) else {
            return try lookUpBatchesGenerally(request, keys: keys, body)
        }
        let wanted = ColumnBatch(request.entity)
        var answer = AnswerBatch(request.entity, request.columns, identity, first: 1)
        var isEnd = false
        var position = 0
        while !isEnd {
            var question = lookup.question()
            while !isEnd, question.count < Self.placesAtOnce, question.byteCount < Self.bytesAtOnce
            {
                isEnd = wanted.fillKeys(upTo: ColumnBatch.capacity, keys)
                for row in 0..<wanted.rows {
                    try question.add(
                        constraint.columns.map { wanted.value($0, row: row) }, place: position)
                    position += 1
                }
                wanted.reset()
            }
            guard question.count > 0 else { continue }
            guard try take(question.statement, into: &answer, body) else { return }
        }
        answer.finish(body)
    }

    /// Takes the rows of an answer that has the place of each first; false if no more is wanted.
    private func take(
        _ statement: Statement, into batch: inout AnswerBatch,
        _ body: (borrowing RowBatch) -> Bool
    ) throws(StoreError) -> Bool {
        var goesOn = true
        try reading.stream(statement) { result throws(StoreError) in
            do throws(SQLFailure) {
                for row in 0..<result.rowCount {
                    let place = Int(try result.int64(row, 0))
                    guard try batch.take(result, row, position: place, body) else {
                        goesOn = false
                        return false
                    }
                }
            } catch {
                throw StoreError(error)
            }
            return true
        }
        return goesOn
    }

    // MARK: Relationships

    func readRelatedBatches(
        _ request: StoreRelated, of owners: [ObjectID], _ body: (borrowing RowBatch) -> Bool
    ) throws(StoreError) {
        try check(request.entity, [])
        try check(request.destination, request.columns)
        // Who is not stored yet has no members.
        let numbers = try owners.map { owner throws(StoreError) in
            try number(owner, entity: request.entity.index) ?? 0
        }
        let relationship = schema.entities[request.entity.index].relationships[request.relationship]
        guard let source = relatedRows(request.entity.index, relationship) else { return }
        let list = AnswerBatch.list("r", request.destination, request.columns, core.layout)
        var answer = AnswerBatch(request.destination, request.columns, identity, first: 1)
        for start in stride(from: 0, to: numbers.count, by: Self.placesAtOnce) {
            var places = SQLArray(of: .int64)
            var owners = SQLArray(of: .int64)
            for place in start..<min(start + Self.placesAtOnce, numbers.count) {
                places.append(number: Int64(place))
                owners.append(number: Int64(numbers[place]))
            }
            let statement = Statement(
                """
                SELECT k.p, \(list) FROM unnest($1::bigint[], $2::bigint[]) AS k(p, o) \
                \(source.joins) ORDER BY k.p, \(source.order)
                """, [.array(places), .array(owners)])
            guard try take(statement, into: &answer, body) else { return }
        }
        answer.finish(body)
    }

    /// What joins the rows "r" that a relationship leads to from the owners "k.o", and their order; nil if it leads nowhere.
    func relatedRows(_ entity: Int, _ relationship: SchemaRelationship) -> (
        joins: String, order: String
    )? {
        let layout = core.layout
        let id = TableLayout.Fixed.id.quoted
        func table(_ entity: Int) -> String {
            layout.sql(layout.tables[layout.table(of: entity)].name)
        }
        let destination = table(relationship.destination)
        switch relationship.storage {
        case .transient: return nil
        case .column(let column):
            let name = layout.column(column, of: entity).name.quoted
            return (
                "JOIN \(table(entity)) AS s ON s.\(id) = k.o JOIN \(destination) AS r ON r.\(id) = s.\(name)",
                "r.\(id)"
            )
        case .inverseColumn(let other, let column):
            let name = layout.column(column, of: other).name.quoted
            let codes = schema.entities[other].family.sorted().map { "\(layout.code(of: $0))" }
            return (
                "JOIN \(table(other)) AS r ON r.\(name) = k.o AND r.\(TableLayout.Fixed.entity.quoted) IN (\(codes.joined(separator: ", ")))",
                inverseOrder(other, column, relationship)
            )
        case .pairs(let pairs, let isSource):
            return (
                """
                JOIN (\(pairRows(pairs, isSource, relationship))) AS q ON q.near = k.o \
                JOIN \(destination) AS r ON r.\(id) = q.far
                """, "q.place, q.far"
            )
        }
    }
}
