// Streams many rows to the server: COPY … FROM STDIN (FORMAT binary).
//
//   1. The statement is sent; the server says that it is ready.
//   2. The body appends rows. They are sent in pieces, each when the socket has taken the one before: memory stays
//      small however many rows there are.
//   3. The end is sent; the server says how many rows it has taken. It says what is wrong with a row only now.
//
// Two round trips. A body that throws, or a call that is over, has the server drop all rows.

import CLibPQ

extension PostgresConnection {
    /// Streams rows, and returns their number.
    ///
    /// - Parameter sql: "COPY … FROM STDIN (FORMAT binary)".
    /// - Throws: `.bodyThrew` with the error of the body, unless that is a failure itself.
    @discardableResult
    func copyIn(
        _ sql: String, bound: CallBound? = nil, _ body: (CopyWriter) throws -> Void
    ) throws(SQLFailure) -> Int {
        var bodyFailure: SQLFailure?
        var statementFailure: SQLFailure?
        var count = 0
        try call(bound) { () throws(SQLFailure) in
            roundTrips += 1
            observe([Statement(sql)])
            guard PQsendQueryParams(link.handle, sql, 0, nil, nil, nil, nil, 1) == 1 else {
                throw link.lost()
            }
            guard try beginsCopy(&statementFailure) else { return }
            let writer = CopyWriter(link)
            do {
                writer.begin()
                try body(writer)
                try writer.end()
            } catch let error as SQLFailure {
                bodyFailure = error.on(server)
            } catch {
                bodyFailure = SQLFailure(
                    .bodyThrew(error), "what gives the rows threw an error of its own",
                    server: server)
            }
            guard !isBroken else { throw bodyFailure ?? link.lost() }
            roundTrips += 1
            count = try endCopy(isWhole: bodyFailure == nil, &statementFailure)
        }
        if let failure = bodyFailure ?? statementFailure { throw failure }
        return count
    }

    /// Whether the server wants rows.
    private func beginsCopy(_ failure: inout SQLFailure?) throws(SQLFailure) -> Bool {
        while let result = try link.nextResult() {
            defer { PQclear(result) }
            switch PQresultStatus(result) {
            case PGRES_COPY_IN: return true
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY:
                failure = SQLFailure(.unreadable, "the statement copies nothing in", server: server)
            case PGRES_COPY_OUT, PGRES_COPY_BOTH:
                throw SQLFailure(.unreadable, "the statement copies nothing in", server: server)
            default: try note(result, &failure)
            }
        }
        return false
    }

    private func endCopy(
        isWhole: Bool, _ failure: inout SQLFailure?
    ) throws(SQLFailure) -> Int {
        let reason = isWhole ? nil : "the client gave it up"
        guard PQputCopyEnd(link.handle, reason) == 1 else { throw link.lost() }
        try link.flushAll()
        var count = 0
        while let result = try link.nextResult() {
            switch PQresultStatus(result) {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK:
                count = PostgresResult(taking: result).affectedRows
            default:
                defer { PQclear(result) }
                try note(result, &failure)
            }
        }
        return count
    }

    private func note(
        _ result: OpaquePointer, _ failure: inout SQLFailure?
    ) throws(SQLFailure) {
        let found = link.failure(of: result)
        if link.isBroken || link.isBad { throw found }
        if failure == nil { failure = found }
    }
}

/// Takes the rows of a copy.
///
/// For each row `beginRow`, then as many fields appended to `fields` as it has columns.
final class CopyWriter {
    /// Where the fields of a row are appended.
    var fields = FieldBuffer()
    private let link: ServerLink
    private(set) var rowCount = 0

    /// Large enough that calls cost nothing, small enough for a processor's cache.
    private static let pieceSize = 1 << 16

    init(_ link: ServerLink) { self.link = link }

    /// The form's signature, no flags, no extension of the header.
    fileprivate func begin() {
        fields.reserve(2 * Self.pieceSize)
        for byte in [0x50, 0x47, 0x43, 0x4F, 0x50, 0x59, 0x0A, 0xFF, 0x0D, 0x0A, 0x00] as [UInt8] {
            fields.put(byte)
        }
        fields.put(Int32(0))
        fields.put(Int32(0))
    }

    /// Begins a row of that many columns.
    func beginRow(_ columns: Int) throws(SQLFailure) {
        if fields.count >= Self.pieceSize { try send() }
        fields.put(Int16(columns))
        rowCount += 1
    }

    fileprivate func end() throws(SQLFailure) {
        fields.put(Int16(-1))
        try send()
    }

    private func send() throws(SQLFailure) {
        // The server reads rows and is asked nothing: giving up is ours to say, by the copy's end.
        try link.checkEnd()
        let sent = fields.bytes.withUnsafeBytes { bytes in
            PQputCopyData(
                link.handle, bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
                CInt(bytes.count))
        }
        guard sent == 1 else { throw link.lost() }
        fields.removeAll()
        try link.flushAll()
    }
}
