import Testing

@testable import CairnPostgres

@Suite("Prepared statements of a connection")
struct PreparedStatementsTests {
    private func prepare(_ statements: inout PreparedStatements, _ sql: String, _ types: [SQLType])
        -> PreparedStatements.Entry?
    {
        guard case .toPrepare(let entry) = statements.use(sql, types) else { return nil }
        statements.confirm(entry)
        return entry
    }

    @Test("a NULL fits every type, another type prepares anew and keeps what is known")
    func types() {
        var statements = PreparedStatements(limit: 4)
        let first = prepare(&statements, "s", [.int64, .unspecified])
        #expect(first?.types == [.int64, .unspecified])
        guard case .prepared = statements.use("s", [.unspecified, .unspecified]) else {
            Issue.record("NULL did not fit")
            return
        }
        let second = prepare(&statements, "s", [.unspecified, .text])
        #expect(second?.types == [.int64, .text])
        #expect(statements.takeUnclosed() == first.map { [$0.name] })
        guard case .prepared = statements.use("s", [.int64, .text]) else {
            Issue.record("the types did not fit")
            return
        }
    }

    @Test("the one that was not used for longest goes, but none that waits for its answer")
    func eviction() {
        var statements = PreparedStatements(limit: 2)
        let a = prepare(&statements, "a", [])
        _ = prepare(&statements, "b", [])
        _ = statements.use("a", [])
        let c = prepare(&statements, "c", [])
        #expect(statements.count == 2)
        #expect(statements.takeUnclosed().count == 1)
        #expect(c != nil)
        guard case .prepared(let again) = statements.use("a", []) else {
            Issue.record("the one in use went")
            return
        }
        #expect(again === a)
        // Two that are under way stay, though there are too many then.
        _ = statements.use("d", [])
        _ = statements.use("e", [])
        _ = statements.use("f", [])
        #expect(statements.count == 3)
    }

    @Test("a segment does not rely on what another one prepares")
    func segments() {
        var statements = PreparedStatements(limit: 4)
        guard case .toPrepare = statements.use("a", []) else {
            Issue.record("it is not new")
            return
        }
        guard case .prepared = statements.use("a", []) else {
            Issue.record("the same segment prepares it twice")
            return
        }
        statements.beginSegment()
        guard case .unprepared = statements.use("a", []) else {
            Issue.record("it relies on the segment before")
            return
        }
    }

    @Test("a limit of none prepares none")
    func none() {
        var statements = PreparedStatements(limit: 0)
        guard case .unprepared = statements.use("a", []) else {
            Issue.record("it is prepared")
            return
        }
    }
}
