// The session settings of each connection of a store.

extension PostgresConnection {
    /// Makes the server check for lost clients: otherwise a client whose machine fails during a batch would keep its rows
    /// locked for hours.
    ///
    /// Each setting is a separate part of the batch, because not all servers know all of them.
    func settleSession() throws(SQLFailure) {
        let settings = [
            "tcp_keepalives_idle": 10, "tcp_keepalives_interval": 5, "tcp_keepalives_count": 3,
        ]
        _ = try outcomes(
            of: settings.sorted { $0.key < $1.key }.map {
                Statement("SET \($0.key) = \($0.value)", [], .once, endsSegment: true)
            })
    }
}
