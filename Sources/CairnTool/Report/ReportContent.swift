// The content of a report, before it becomes a page. It contains nothing that was redacted.
//
// Threads: values.

import CairnInspection
import CairnLog
import CairnModel
import CairnPictures

/// The content of a report about a store.
struct ReportContent {
    /// A part of a store, or the reason why it could not be read.
    enum Part<Content> {
        case known(Content)
        case unknown(String)

        var content: Content? {
            if case .known(let content) = self { content } else { nil }
        }
    }

    /// The result of the check.
    struct Health {
        /// A damaged place.
        struct Finding {
            let message: String
            let segment: UInt64?
            let offset: UInt64?
        }

        let isSound: Bool
        /// The result in words: how much was checked, or why it could not be.
        let lines: [String]
        let findings: [Finding]
        /// The number of findings: `findings` does not keep all of many.
        let count: UInt64
        /// The failure with which the report command ends; nil if the store is sound.
        let failure: Failure?
    }

    /// A transaction of the history.
    struct Transaction {
        /// The old and new values of an object.
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

    /// The name of the store.
    let title: String
    /// When the report was created.
    let made: String
    let isRedacted: Bool
    /// The depth of the check.
    let depth: String
    /// The output of `cairn info`.
    let information: JSONValue
    let health: Health
    /// The reason why the store cannot be opened; nil if it can.
    let problem: String?
    let model: Part<ManagedObjectModel>
    /// Fetch indexes of the model that the store does not keep, and the reasons.
    let leftOutIndexes: [(name: String, entity: String, reason: String)]
    /// Nil if the store is not in a folder.
    let space: Part<StoreSpace>?
    let treemap: Part<SpaceTreemap>
    /// Nil if the store is not in a folder.
    let strip: Part<LogStrip>?
    let commits: Part<CommitTimeline>
    /// The newest transactions, newest first; nil if there is no history.
    let transactions: Part<[Transaction]>?
}
