// Ends a transaction that has written nothing, without waiting.
//
//   1. `endTransaction` sends a ROLLBACK, and goes on.
//   2. `finishEnding` reads the answer, when the connection is next used: it has mostly come by then.
//
// Between the two the connection carries out nothing else.

import CLibPQ

extension PostgresConnection {
    /// Sends the end of a transaction.
    func endTransaction() {
        guard !isBroken, !isEnding else { return }
        let statement = Statement("ROLLBACK", [], .once)
        observe([statement])
        guard PQenterPipelineMode(link.handle) == 1,
            PQsendQueryParams(link.handle, statement.sql, 0, nil, nil, nil, nil, 1) == 1,
            PQpipelineSync(link.handle) == 1
        else { return link.breakOff() }
        isEnding = true
        // What the system does not take at once goes when the answer is read.
        _ = link.flush()
    }

    /// Reads the answer to what has been sent; false if the connection is of no more use.
    func finishEnding(_ bound: CallBound) -> Bool {
        guard isEnding else { return !isBroken }
        isEnding = false
        do throws(SQLFailure) {
            try call(bound) { () throws(SQLFailure) in try readEnd() }
            return true
        } catch {
            return false
        }
    }

    /// A result, the end of it, and that of the batch.
    private func readEnd() throws(SQLFailure) {
        var ends = 0
        while ends < 2 {
            guard let result = try link.nextResult() else {
                ends += 1
                continue
            }
            defer { PQclear(result) }
            switch PQresultStatus(result) {
            case PGRES_COMMAND_OK: continue
            case PGRES_PIPELINE_SYNC:
                guard PQexitPipelineMode(link.handle) == 1 else { throw link.lost() }
                return
            default: throw link.failure(of: result)
            }
        }
        throw link.lost()
    }
}
