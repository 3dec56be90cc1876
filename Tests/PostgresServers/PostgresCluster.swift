// Three servers, two of which follow the first, and what an operator does when that dies.
//
// A commit is told to its client once one of the two others has it. Which of them that is nobody knows: the one that has more
// takes over.
//
// Threads: one at a time; the servers are used by any.

import CairnTestSupport

package final class PostgresCluster: Sendable {
    package let first: PostgresServer
    package let standbys: [PostgresServer]

    package init() throws {
        var settings = PostgresServer.Settings()
        // What is tested is the death of processes, which the system's memory survives.
        settings.isDurable = false
        settings.configuration = ["max_connections": "150", "wal_retrieve_retry_interval": "100ms"]
        let first = try PostgresServer(settings)
        self.first = first
        var following = settings
        following.configuration["synchronous_standby_names"] = "ANY 1 (n1,n2,n3)"
        standbys = try ["n2", "n3"].map { name in
            try PostgresServer(following: first, as: name, following)
        }
        try first.configure(["synchronous_standby_names": "ANY 1 (n2,n3)"])
        try first.reload()
    }

    /// All three in one string: whoever takes writes is meant.
    package func url(_ options: [String: String] = [:]) -> String {
        let hosts = ([first] + standbys).map { "127.0.0.1:\($0.port)" }
        let all = options.merging(["target_session_attrs": "read-write", "connect_timeout": "2"]) {
            given, _ in given
        }
        return first.url(all).replacing(hosts[0], with: hosts.joined(separator: ","))
    }

    /// The power of the first fails, and one of the others takes over, which the third follows from then on; gives the new one.
    package func failOver() throws -> PostgresServer {
        try first.stop(immediately: true)
        // Both have written what they were sent before they see that it is gone.
        let received = try standbys.map { try $0.receivedBytes() }
        let (next, other) =
            received[0] >= received[1] ? (standbys[0], standbys[1]) : (standbys[1], standbys[0])
        try next.promote()
        try other.follow(next, as: "n3")
        return next
    }
}
