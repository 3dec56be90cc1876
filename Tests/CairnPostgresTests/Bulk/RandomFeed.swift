// Random batches of some thousand rows, the same for several stores.

import CairnModel
import CairnStore
import CairnTestSupport
import Synchronization

struct RandomFeed {
    let rows: [[String: any Sendable]]
    private let isGivenOnce: Bool
    private let request: BatchInsertRequest

    /// - Parameter codes: how many codes there are.
    init(codes: Int, _ random: inout RandomSource) {
        let count = Int.random(in: 1100...2600, using: &random)
        // Rows in turn are about different objects, or not.
        let isOnce = random.oneIn(2)
        let first = Int.random(in: 0..<codes, using: &random)
        let namesShops = random.oneIn(2)
        let hasNumbers = random.oneIn(3)
        let mistakes = random.oneIn(4) ? 1000 : Int.max
        rows = (0..<count).map { index in
            var row: [String: any Sendable] = [:]
            let code =
                isOnce ? (first + index) % codes : Int.random(in: 0..<codes, using: &random)
            if !random.oneIn(500) { row["code"] = "c\(code)" }
            if !random.oneIn(3) { row["name"] = "name \(Int.random(in: 0..<4, using: &random))" }
            if random.oneIn(3) { row["note"] = random.oneIn(2) ? nil : "note" }
            if !random.oneIn(4) { row["amount"] = Int64.random(in: 0..<3, using: &random) }
            if random.oneIn(2) { row["price"] = Double(Int.random(in: 0..<3, using: &random)) }
            if namesShops, !random.oneIn(4) {
                row["shop"] = "s\(Int.random(in: 0..<12, using: &random))"
            }
            if hasNumbers, random.oneIn(40) {
                row["series"] = "s"
                row["number"] = Int32(code)
            }
            if mistakes < .max, random.oneIn(mistakes) {
                row["whole"] = "c\(Int.random(in: 0..<codes, using: &random))"
            }
            return row
        }
        isGivenOnce = random.oneIn(2)
        var request = BatchInsertRequest(entityName: "Product", objects: [])
        let policies: [MergePolicyKind?] = [
            nil, .error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite,
            .rollback, .declared,
        ]
        request.mergePolicy = policies.randomElement(using: &random) ?? nil
        request.setOnly = random.oneIn(2)
        request.resultType = random.oneIn(2) ? .objectIDs : .count
        request.reportsOutcomes = random.oneIn(2)
        request.reportsRepeats = random.oneIn(2)
        request.failsOnConflict = random.oneIn(12)
        request.createsTargets = random.oneIn(2)
        request.ignoresMissingTargets = random.oneIn(2)
        request.missingKey = random.oneIn(8) ? .fail : random.oneIn(2) ? .skip : .insert
        if random.oneIn(3) {
            request.missing = random.oneIn(2) ? .delete : .mark(["state": .string("gone")])
            if random.oneIn(2) {
                request.scope = .compare("name", .equal, .string("name 1"))
            }
        }
        self.request = request
    }

    /// A request with these rows.
    func makeRequest() -> BatchInsertRequest {
        var made: BatchInsertRequest
        if isGivenOnce {
            let place = Mutex(0)
            let rows = rows
            made = BatchInsertRequest(entityName: "Product") { row in
                let index = place.withLock { place in
                    defer { place += 1 }
                    return place
                }
                if index >= rows.count { return true }
                for (key, value) in rows[index] { row[key] = value }
                return false
            }
        } else {
            made = BatchInsertRequest(entityName: "Product", objects: rows)
        }
        made.mergePolicy = request.mergePolicy
        made.setOnly = request.setOnly
        made.resultType = request.resultType
        made.reportsOutcomes = request.reportsOutcomes
        made.reportsRepeats = request.reportsRepeats
        made.failsOnConflict = request.failsOnConflict
        made.createsTargets = request.createsTargets
        made.ignoresMissingTargets = request.ignoresMissingTargets
        made.missingKey = request.missingKey
        made.missing = request.missing
        made.scope = request.scope
        return made
    }

    var words: String {
        "\(rows.count) rows \(isGivenOnce ? "once" : ""), \(request.mergePolicy.map { "\($0)" } ?? "no policy"), setOnly \(request.setOnly), missing \(request.missing), scope \(request.scope != nil), creates \(request.createsTargets), ignores \(request.ignoresMissingTargets), repeats \(request.reportsRepeats)"
    }
}
