// One libpq connection: its socket, waiting on it, and its errors.
//
//   1. The connection is non-blocking. Whoever needs an answer or room waits here, in `poll`, and nowhere else.
//   2. A call that takes too long, or that somebody gives up, asks the server to cancel the statement and goes on
//      waiting for what becomes of it: the connection stays of use, and what was carried out after all is known.
//   3. A server that does not answer that either, within a few seconds, costs the connection.
//
// libpq itself blocks in two places that cannot be bounded from here: looking names up (see ServerHost), and Kerberos.
//
// Invariants: once `isBroken`, nothing is sent. The sink of notices lives as long as the connection, to which libpq
// gives its bare pointer.
// Threads: one at a time.

import CLibPQ

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

final class ServerLink {
    let handle: OpaquePointer
    /// "host:port/database".
    var server = ""
    private(set) var isBroken = false
    /// How many warnings the server has sent.
    var warnings: Int { sink.warnings }

    private let sink: NoticeSink
    private let redacted: (String) -> String
    private var bound = CallBound()
    /// Why the call is being ended, once it is.
    private(set) var end: CallEnd?
    private var cancel: CancelRequest?
    private var cancelCount = 0
    private var patience = Deadline.never

    /// How long a server may take to give up a statement. Each time that it has not, it is asked again.
    private static let cancelPatience = Duration.seconds(2)
    private static let mostCancels = 3

    /// Takes a connection over that may be only begun.
    init(
        taking handle: OpaquePointer, redacted: @escaping (String) -> String,
        onNotice: @escaping @Sendable (PostgresNotice) -> Void
    ) {
        self.handle = handle
        self.redacted = redacted
        sink = NoticeSink(onNotice)
        PQsetNoticeReceiver(
            handle, { context, result in receiveNotice(context, result) },
            Unmanaged.passUnretained(sink).toOpaque())
    }

    deinit { PQfinish(handle) }

    // MARK: Calls

    /// Begins a call that may take that long.
    func begin(_ bound: CallBound) throws(SQLFailure) {
        guard !isBroken else {
            throw SQLFailure(.closed, "the connection is closed", server: server)
        }
        if let end = bound.end { throw failure(end) }
        self.bound = bound
        end = nil
        cancelCount = 0
    }

    /// Ends it: a cancellation that is still under way must not meet the next call.
    func finish() {
        guard let cancel else { return }
        if !cancel.finish(.after(Self.cancelPatience)) { isBroken = true }
        self.cancel = nil
        end = nil
    }

    /// Ends the call as soon as the server lets it.
    private func stop(_ reason: CallEnd) throws(SQLFailure) {
        guard cancelCount < Self.mostCancels else {
            isBroken = true
            var failure = failure(reason)
            failure.hint = "the server did not answer the cancellation: the connection is closed"
            throw failure
        }
        end = reason
        cancelCount += 1
        patience = .after(Self.cancelPatience)
        cancel = CancelRequest(handle)
        cancel?.send()
    }

    /// Whether the call has to end; the server is not told. For calls that end themselves, as a copy does.
    func checkEnd() throws(SQLFailure) {
        if let end = bound.end { throw failure(end) }
    }

    /// What a call gets that ended for that reason.
    func failure(_ end: CallEnd) -> SQLFailure {
        switch end {
        case .timedOut:
            SQLFailure(.timedOut, "the server did not answer in time", server: server)
        case .cancelled: SQLFailure(.cancelled, "the call was cancelled", server: server)
        }
    }

    // MARK: Waiting

    /// Waits until the socket is ready for something of that, and takes in what has come.
    func wait(toWrite: Bool = false) throws(SQLFailure) {
        let events = CShort(POLLIN) | (toWrite ? CShort(POLLOUT) : 0)
        while true {
            if end == nil, let reason = bound.end {
                try stop(reason)
            } else if let end, patience.isOver {
                try stop(end)
            }
            let milliseconds = end == nil ? bound.pollMilliseconds : patience.milliseconds()
            let socket = PQsocket(handle)
            // Who reads on is told that the connection is gone.
            guard socket >= 0 else { return }
            guard let ready = Self.poll(socket, events, milliseconds) else { continue }
            // A connection that breaks here may have left a last word of the server, which is read as its results are.
            if ready & ~CShort(POLLOUT) != 0 { PQconsumeInput(handle) }
            return
        }
    }

    /// Waits a while for something to read, and takes in nothing.
    static func waitToRead(_ descriptor: CInt, _ bound: CallBound) {
        _ = poll(descriptor, CShort(POLLIN), bound.pollMilliseconds)
    }

    /// Waits, for nothing.
    static func pause(_ bound: CallBound) { _ = poll(-1, 0, bound.pollMilliseconds) }

    /// Waits until then, for nothing.
    static func pause(_ deadline: Deadline) {
        while !deadline.isOver { _ = poll(-1, 0, deadline.milliseconds(atMost: nil)) }
    }

    static let readable = CShort(POLLIN)

    /// What a descriptor is ready for; nil if nothing has happened yet.
    static func poll(_ descriptor: CInt, _ events: CShort, _ milliseconds: CInt) -> CShort? {
        var entry = pollfd(fd: descriptor, events: events, revents: 0)
        #if canImport(Glibc)
            let count = Glibc.poll(&entry, 1, milliseconds)
        #elseif canImport(Musl)
            let count = Musl.poll(&entry, 1, milliseconds)
        #elseif canImport(Darwin)
            let count = Darwin.poll(&entry, 1, milliseconds)
        #endif
        if count < 0, errno != EINTR, errno != EAGAIN { return CShort(POLLERR) }
        return count > 0 ? entry.revents : nil
    }

    /// Sends what has been queued, as far as the system takes it at once; true if something is left. What fails here shows
    /// in the next result.
    func flush() -> Bool { PQflush(handle) == 1 }

    /// Sends all that has been queued. What the server has to say meanwhile is taken in: it would else not read on.
    func flushAll() throws(SQLFailure) {
        while flush(), !isBad { try wait(toWrite: true) }
    }

    /// The next result; nil at the end of a statement's results.
    func nextResult() throws(SQLFailure) -> OpaquePointer? {
        while PQisBusy(handle) == 1, !isBad { try wait(toWrite: flush()) }
        return PQgetResult(handle)
    }

    // MARK: Failures

    /// The connection is gone; what it was about is not known.
    func lost() -> SQLFailure {
        isBroken = true
        if let end {
            var failure = failure(end)
            failure.hint = "the connection was lost during the call"
            return failure
        }
        // The server's last word, if it had one, says more than that it is gone.
        if isBad {
            for _ in 0..<Self.mostLastWords {
                guard let result = PQgetResult(handle) else { break }
                defer { PQclear(result) }
                let failure = failure(of: result)
                if failure.sqlState != nil { return failure }
            }
        }
        return SQLFailure(.connectionLost, message, server: server)
    }

    private static let mostLastWords = 10

    /// The link is of no use any more, though libpq may not know it.
    func breakOff() { isBroken = true }

    var isBad: Bool { PQstatus(handle) != CONNECTION_OK }

    /// What libpq says last, in one line.
    var message: String {
        let text = PQerrorMessage(handle).map { String(cString: $0) } ?? ""
        let words = redacted(text).split { $0 == " " || $0.isNewline || $0 == "\t" }
        return words.isEmpty ? "the reason is unknown" : words.joined(separator: " ")
    }

    /// What a result says went wrong. The result stays the caller's.
    func failure(of result: OpaquePointer) -> SQLFailure {
        func field(_ code: CInt) -> String? {
            PQresultErrorField(result, code).map { String(cString: $0) }
        }
        let state = field(DiagnosticField.sqlState).map { SQLState($0) }
        if let end, state?.isCancelled == true {
            var failure = failure(end)
            failure.sqlState = state
            return failure
        }
        let severity = field(DiagnosticField.severity)
        let isFatal = severity == "FATAL" || severity == "PANIC"
        if isFatal || (state == nil && isBad) { isBroken = true }
        let kind: SQLFailure.Kind = isBroken ? .connectionLost : .server
        let text = field(DiagnosticField.message) ?? message
        var failure = SQLFailure(kind, redacted(text), server: server, sqlState: state)
        failure.detail = field(DiagnosticField.detail)
        failure.hint = field(DiagnosticField.hint)
        failure.schemaName = field(DiagnosticField.schemaName)
        failure.tableName = field(DiagnosticField.tableName)
        failure.columnName = field(DiagnosticField.columnName)
        failure.constraintName = field(DiagnosticField.constraintName)
        return failure
    }
}

/// The fields of an error, which the header has as C's characters.
enum DiagnosticField {
    static let severity = code("V")
    static let sqlState = code("C")
    static let message = code("M")
    static let detail = code("D")
    static let hint = code("H")
    static let schemaName = code("s")
    static let tableName = code("t")
    static let columnName = code("c")
    static let constraintName = code("n")

    private static func code(_ letter: Unicode.Scalar) -> CInt { CInt(letter.value) }
}

private func receiveNotice(_ context: UnsafeMutableRawPointer?, _ result: OpaquePointer?) {
    guard let context, let result else { return }
    func field(_ code: CInt) -> String {
        PQresultErrorField(result, code).map { String(cString: $0) } ?? ""
    }
    let primary = field(DiagnosticField.message)
    // What libpq itself has to say has no fields.
    let message =
        primary.isEmpty ? PQresultErrorMessage(result).map { String(cString: $0) } ?? "" : primary
    let notice = PostgresNotice(
        severity: field(DiagnosticField.severity),
        sqlState: SQLState(field(DiagnosticField.sqlState)), message: message)
    Unmanaged<NoticeSink>.fromOpaque(context).takeUnretainedValue().take(notice)
}
