// What holds for each connection of a store.

extension PostgresConnection {
    /// Has the server look after a client from which it hears nothing: one whose machine has gone while a batch was on its
    /// way would else keep the rows of its transaction locked for hours.
    ///
    /// Each setting is a part of the batch by itself: not all servers know all of them.
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
