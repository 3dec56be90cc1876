// How thorough the long tests are.
//
// Every day they take a sample. With CAIRN_CAMPAIGN=1 they go through everything, with a larger number as many
// times; that is for an optimised build:
//
//   swift build -c release --build-tests -Xswiftc -enable-testing --scratch-path .build-release
//   CAIRN_CAMPAIGN=1 .build-release/release/cairnPackageTests.xctest --testing-library swift-testing \
//       --no-parallel --filter 'CrashTests|FailingCallTests|LyingSyncTests|NaiveStoreTests'

import Foundation

enum Campaign {
    private static let setting = ProcessInfo.processInfo.environment["CAIRN_CAMPAIGN"]

    /// Whether CAIRN_CAMPAIGN is set: every byte and every bit then, else samples.
    static let isLong = setting != nil

    /// How many times as long as CAIRN_CAMPAIGN=1; 0 if it is not set.
    static let scale = setting.map { max(1, Int($0) ?? 1) } ?? 0

    /// A step that is small enough for every day, and 1 in a campaign.
    static func step(_ everyDay: Int) -> Int { isLong ? 1 : everyDay }

    /// How often something is done: a few times every day, more in a campaign.
    static func rounds(_ everyDay: Int, _ campaign: Int) -> Int {
        isLong ? campaign * scale : everyDay
    }

    /// Says how much a test went through, so that it can be quoted.
    static func report(_ what: String, _ count: Int) {
        FileHandle.standardOutput.write(Data("campaign: \(count) \(what)\n".utf8))
    }
}
