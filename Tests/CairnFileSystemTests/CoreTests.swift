// How many cores the process may use.

import CCairn
import Foundation
import Testing

@Suite("Cores")
struct CoreTests {
    @Test("The cores that the process may use are those that the system lists for it")
    func usable() throws {
        let cores = Int(cairn_usable_cores())
        #expect(cores >= 1)
        #if os(Linux)
            let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
            let line = try #require(
                status.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed:") })
            let digits = line.dropFirst("Cpus_allowed:".count).compactMap(\.hexDigitValue)
            #expect(cores == digits.reduce(0) { $0 + $1.nonzeroBitCount })
        #endif
    }
}
