// A migration by the tool that is killed leaves the old store or the new one, nothing between.

import CairnModel
import CairnTestSupport
import Foundation
import Testing

@testable import CairnTool

@Suite("A killed cairn migrate", .enabled(if: ToolProcess.url != nil))
struct KilledMigrationTests {
    enum Kind: Sendable, CaseIterable {
        /// Inferred, with duplicates that become one.
        case folding
        case mapping
    }

    /// The arguments of a migration of a store with 2,000 things, each email of which two have.
    private static func prepare(_ kind: Kind, _ work: borrowing Workplace) throws -> [String] {
        try work.importing(
            "things.csv",
            "code,email,visits\n"
                + (0..<2000).map { "c\($0),e\($0 / 2)@example.org,\($0 * 7919 % 10_007)\n" }
                .joined())
        let text = cairn("schema", work.store, "--json").output
        var model = try JSONDecoder().decode(ManagedObjectModel.self, from: Data(text.utf8))
        switch kind {
        case .folding: model.entities[0].uniquenessConstraints.append(["email"])
        case .mapping:
            for index in model.entities[0].attributes.indices
            where model.entities[0].attributes[index].name == "visits" {
                model.entities[0].attributes[index].type = .string
            }
        }
        let start = ["migrate", work.store, "--to", try work.list("new.json", try model.json())]
        if kind == .folding { return start + ["--deduplicate", "Thing:email:newest:visits"] }
        let mapping = MappingText([
            .init(
                from: "Thing", to: "Thing",
                [
                    .attribute("code"), .attribute("email"),
                    .attribute(
                        "visits",
                        .function(
                            "castObject:toType:",
                            [.source("visits"), .constant(.text("NSString"))])),
                ])
        ])
        return start + ["--mapping", try work.list("things.xml", mapping.xml)]
    }

    @Test(
        "Kills at random moments: the old store or the new one, and it can be done again",
        arguments: Kind.allCases)
    func killed(_ kind: Kind) throws {
        let work = try Workplace()
        let files = FileManager.default
        let arguments = try Self.prepare(kind, work)
        let spare = work.folder.path("spare.cairn")
        try files.copyItem(atPath: work.store, toPath: spare)
        func content() -> String {
            cairn("export", work.store).output + cairn("schema", work.store, "--json").output
        }
        let old = content()

        // Once in peace: what becomes of it, and about how long it takes.
        let begin = ContinuousClock.now
        let whole = try ToolProcess.start(arguments)
        inTime(for: "the tool to end") { whole.waitUntilExit() }
        #expect(whole.terminationStatus == 0)
        let length = ContinuousClock.now - begin
        let new = content()
        #expect(new != old)

        var (olds, news) = (0, 0)
        try Rounds.run("killed cairn migrate, \(kind)", everyDay: 3, whole: 1000) { random in
            try files.removeItem(atPath: work.store)
            try files.copyItem(atPath: spare, toPath: work.store)
            let process = try ToolProcess.start(arguments)
            // Any moment is good: nothing is expected of the time itself.
            let moment = ContinuousClock.now + length * Double.random(in: 0...1.1, using: &random)
            while process.isRunning, ContinuousClock.now < moment { sched_yield() }
            kill(process.processIdentifier, SIGKILL)
            inTime(for: "the killed tool to end") { process.waitUntilExit() }
            let found = content()
            let place: Comment = "\(kind), seed \(random.seed)"
            #expect(found == old || found == new, place)
            if found == old { olds += 1 } else { news += 1 }
            #expect(cairn("check", work.store).code == 0, place)
            let again = run(arguments)
            #expect(again.code == 0, "\(kind), seed \(random.seed): \(again.errors)")
            #expect(content() == new, place)
        }
        Campaign.report("kills of cairn migrate (\(kind)) left the old store", olds)
        Campaign.report("kills of cairn migrate (\(kind)) left the new store", news)
    }
}
