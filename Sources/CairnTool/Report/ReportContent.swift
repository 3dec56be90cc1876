// What a report says, before it is a page. What was left out of it is in nothing of this.
//
// Threads: values.

import CairnInspection
import CairnLog
import CairnModel
import CairnPictures

/// What is in a report of a store.
struct ReportContent {
    /// Something that a store has, or why it could not be read.
    enum Part<Content> {
        case known(Content)
        case unknown(String)

        var content: Content? {
            if case .known(let content) = self { content } else { nil }
        }
    }

    /// What the check says.
    struct Health {
        /// A place that is damaged.
        struct Finding {
            let message: String
            let segment: UInt64?
            let offset: UInt64?
        }

        let isSound: Bool
        /// What it says in words: how much it looked at, or why it could not.
        let lines: [String]
        let findings: [Finding]
        /// How many there are: not all of many are kept.
        let count: UInt64
        /// How the command ends that made the report; nil if all is well.
        let failure: Failure?
    }

    /// A transaction of the history.
    struct Transaction {
        /// Values of an object, from what to what.
        struct Values {
            let object: String
            let property: String
            let words: String
        }

        let number: UInt64
        let time: String
        let author: String
        let program: String
        let changes: [String]
        let values: [Values]
    }

    /// What the store is called.
    let title: String
    /// When the report was made.
    let made: String
    let isRedacted: Bool
    /// How deep the check looked.
    let depth: String
    /// What `cairn info` prints.
    let information: JSONValue
    let health: Health
    /// Why the store does not open; nil if it does.
    let problem: String?
    let model: Part<ManagedObjectModel>
    /// Fetch indexes of the model that the store does not keep, and why.
    let leftOutIndexes: [(name: String, entity: String, reason: String)]
    /// Nil: it is in no folder.
    let space: Part<StoreSpace>?
    let treemap: Part<SpaceTreemap>
    /// Nil: it is in no folder.
    let strip: Part<LogStrip>?
    let commits: Part<CommitTimeline>
    /// The newest ones, newest first; nil: no history is kept.
    let transactions: Part<[Transaction]>?
}
