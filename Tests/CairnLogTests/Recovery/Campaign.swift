// How thorough the long tests are.

import Foundation

enum Campaign {
    /// Whether CAIRN_CAMPAIGN is set: every byte and every bit then, else samples.
    static let isLong = ProcessInfo.processInfo.environment["CAIRN_CAMPAIGN"] != nil

    /// A step that is small enough for every day, and 1 in a campaign.
    static func step(_ everyDay: Int) -> Int { isLong ? 1 : everyDay }
}
