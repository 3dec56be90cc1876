// How thorough the long tests are, and how they are run.
//
// Every day a test takes a sample. With CAIRN_CAMPAIGN=1 it does all of what its title says; with another
// number that many times as much (0.01: a hundredth, for a first look).
//
// A campaign wants an optimised build of the tests. Once, and after each change:
//
//     swift build -c release --build-tests -Xswiftc -enable-testing --scratch-path .build-release
//
// then one line for each campaign, several at once if there are cores:
//
//     cd .build-release/release && T="./cairnPackageTests.xctest --testing-library swift-testing"
//     export CAIRN_CAMPAIGN=1
//     ulimit -v 16000000                          # no damaged number allocates without a limit
//     $T --filter EveryBitTests                   # each bit of a store, with its checkpoint and without
//     $T --filter RandomDamageTests               # 1,000,000 stores with random damage
//     $T --filter FlippedBitTests                 # each bit of stores that crashed, were closed, are open
//     $T --filter 'Hostile|CheckpointTests'       # wrong numbers under right checksums
//     $T --filter 'Fuzz'                          # every decoder and every reader of a text
//     $T --filter KilledWriterTests               # 10,000 processes under SIGKILL
//     $T --filter SharingCampaignTests            # 8 writers and 4 readers of one store, 10 minutes; 0.05: 30 seconds
//     $T --no-parallel --filter InterleavedProcessesTests    # 200,000 runs of processes, interleaved at each call
//     $T --no-parallel --filter 'CrashTests|FailingCallTests|LyingSyncTests|NaiveStoreTests'
//     $T --no-parallel --filter 'CutOffMigrationTests|InterruptedMigrationTests|MigrationSyncTests'
//     $T --filter 'MigratingProcessTests|KilledMigrationTests'    # 1,000 migrating processes under SIGKILL
//     $T --filter 'StoredPredicateTests|StoredTableTests'    # 100,000 fetches and tables beside the evaluator
//     $T --filter 'StoredOverlayTests|SQLNullsTests'         # the same over unsaved changes, and with the nil of SQL
//     $T --filter RandomPlanTests                 # a store with many indexes beside one without
//     $T --filter RandomGraphTests                # 1,000,000 steps: contexts, children, policies, undo, reopening
//     $T --filter 'RandomCoordinatorTests|RandomMergingTests|RandomFamilyTests|RandomConflictTests'
//     $T --filter 'ChangeSetTests|EightTasksTests'           # what commits tell; tasks at work in one container
//     $T --filter LargeLoopTests                  # loops over 1,000,000 objects in bounded memory
//     $T --filter 'CorpusStoreTests|MigrationCorpusTests|CatalogSuccessorTests|VersionHashTests'  # each step of real models
//     $T --filter 'CorpusModelTests|ModelDescriptionTests|SwiftModelSyntaxTests'                  # each of 155 real models
//     $T --filter 'CrowdedKeyTests|OperatorTableTests|GroupSieveTests|RandomRuleTests'
//     $T --filter 'CutTests|FailOverTests|ContentionTests|FirstOpeningTests'    # servers and connections that die
//
// Races are looked for in a build of its own, without CAIRN_CAMPAIGN, and with locks that the sanitizer sees:
//
//     .ci/races                                   # all suites in which threads meet
//     .ci/races 'CairnObjectsTests|CairnLogTests'
//
// A debug build does the same, about ten times slower: CAIRN_CAMPAIGN=1 swift test --filter EveryBitTests
//
// Each prints how far it is and what it found. What traps or hangs prints the seed of its round: with
// CAIRN_SEED set to that, the same round comes first.

import Foundation

package enum Campaign {
    /// CAIRN_CAMPAIGN, if it is set: 1 is the whole campaign. What is no number counts as 1.
    package static let size: Double? = ProcessInfo.processInfo.environment["CAIRN_CAMPAIGN"].map {
        Double($0).flatMap { $0 > 0 ? $0 : nil } ?? 1
    }

    /// Whether this is a campaign and not an ordinary run of the tests.
    package static var isLong: Bool { size != nil }

    /// A step that is small enough for every day, and 1 in a campaign.
    package static func step(_ everyDay: Int) -> Int {
        guard let size else { return everyDay }
        return min(everyDay, max(1, Int((1 / size).rounded())))
    }

    /// Every day one in so many elements, from one that chance chooses; all in a campaign. Never none, unless there are none.
    package static func sample<Element>(
        _ elements: [Element], oneIn everyDay: Int, using random: inout some RandomNumberGenerator
    ) -> [Element] {
        let step = min(step(everyDay), elements.count)
        guard step > 1 else { return elements }
        let first = Int.random(in: 0..<step, using: &random)
        return stride(from: first, to: elements.count, by: step).map { elements[$0] }
    }

    /// How often something is done: every day, and in a whole campaign.
    package static func count(_ everyDay: Int, whole: Int) -> Int {
        guard let size else { return everyDay }
        return max(everyDay, Int(Double(whole) * size))
    }

    /// Says how much a test went through, so that it can be quoted.
    package static func report(_ what: String, _ count: Int) {
        FileHandle.standardOutput.write(Data("campaign: \(count) \(what)\n".utf8))
    }
}
