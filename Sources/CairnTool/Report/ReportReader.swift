// Reads the content of a report from a store, as far as it can be read.
//
//   1. Reads the description of the store (as cairn info) and the check, which do not require that it can be
//      opened.
//   2. Then opens it once, and reads each part separately: damage affects only its own part.
//   3. Removes names and values here, on request.
//
// Threads: one.

import CairnInspection
import CairnLog
import CairnModel
import CairnPictures
import CairnStore
import FoundationEssentials

/// Reads a store for a report.
struct ReportReader {
    /// The maximum number of transactions in a report, and of values of each of the first few.
    private static let mostTransactions = 50
    private static let mostWithValues = 10
    private static let mostValues = 20
    /// The number of commits at the end of the history that are searched for them at first.
    private static let window: UInt64 = 200

    let place: String
    let depth: CheckDepth
    let tell: (String, Int, Int) -> Void
    private var redaction: Redaction

    init(
        _ place: String, depth: CheckDepth, redacts: Bool,
        _ tell: @escaping (String, Int, Int) -> Void
    ) {
        self.place = place
        self.depth = depth
        self.tell = tell
        redaction = Redaction(isOn: redacts, place: StoreKinds.current.title(of: place))
    }

    /// The content of an open store.
    private struct Opened {
        var model: ManagedObjectModel
        var leftOutIndexes: [(name: String, entity: String, reason: String)]
        var space: ReportContent.Part<StoreSpace>?
        var treemap: ReportContent.Part<SpaceTreemap>
        var strip: ReportContent.Part<LogStrip>?
        var commits: ReportContent.Part<CommitTimeline>
        var transactions: ReportContent.Part<[ReportContent.Transaction]>?
    }

    /// Reads everything.
    ///
    /// - Throws: An error if there is no store, or the requested check is invalid.
    mutating func read() throws -> ReportContent {
        let information: StorePrintout
        do {
            information = try StoreSession.printout(of: place) {
                try $0.information(of: place, opens: true)
            }
        } catch {
            // Files that cannot be opened at all: the check reports which.
            guard try StoreSession.isStore(place) else { throw error }
            information = StorePrintout(lines: [], json: .object([] as [JSONValue.Member]))
        }
        // A server describes itself even without a store.
        if let failure = information.failure, try !StoreSession.isStore(place) { throw failure }
        let health = try health()
        let damage = Dictionary(
            health.findings.compactMap { finding in
                finding.segment.map { (UInt32(clamping: $0), finding.message) }
            }, uniquingKeysWith: { first, _ in first })
        let opened: ReportContent.Part<Opened>
        do {
            var reader = self
            opened = .known(
                try StoreSession.reading(place) { try reader.read($0, damage: damage) })
            redaction = reader.redaction
        } catch {
            opened = .unknown("The store does not open: \(redaction.sentence(error))")
        }
        return content(information.json, health, opened, damage)
    }

    private mutating func content(
        _ information: JSONValue, _ health: ReportContent.Health,
        _ opened: ReportContent.Part<Opened>, _ damage: [UInt32: String]
    ) -> ReportContent {
        let isFolder = !DatabaseURL.isOne(place)
        var problem: String?
        if case .unknown(let words) = opened { problem = words }
        let reason = "Not known, as the store does not open."
        let store = opened.content
        let now = Date().timeIntervalSinceReferenceDate.rounded(.down)
        return ReportContent(
            title: redaction.title,
            made: PlainText.value(.date(Date(timeIntervalSinceReferenceDate: now))),
            isRedacted: redaction.isOn, depth: depth.rawValue,
            information: redaction.information(information), health: health,
            problem: problem,
            model: store.map { .known($0.model) } ?? .unknown(reason),
            leftOutIndexes: store?.leftOutIndexes ?? [],
            space: store.map(\.space) ?? (isFolder ? .unknown(reason) : nil),
            treemap: store?.treemap ?? .unknown(reason),
            strip: store.map(\.strip)
                ?? (isFolder ? part { try LogPicture.strip(of: place, nil, damage: damage) } : nil),
            commits: store?.commits ?? part { try CommitPicture.timeline(at: place, nil) },
            transactions: store.map(\.transactions) ?? .unknown(reason))
    }

    private mutating func health() throws -> ReportContent.Health {
        let result: StorePrintout
        let tell = tell
        do {
            result = try StoreSession.printout(of: place) {
                try $0.check(place, depth: depth) { tell("checking \($0)", $1, $2) }
            }
        } catch {
            // An invalid request is not a finding about the store.
            if let failure = error as? Failure, failure.code == .usage { throw failure }
            return .init(
                isSound: false, lines: [redaction.sentence(error)], findings: [], count: 0,
                failure: Failure(error) ?? Failure("\(error)"))
        }
        guard let failure = result.failure else {
            return .init(
                isSound: true, lines: result.lines.map { redaction.sentence($0) }, findings: [],
                count: 0, failure: nil)
        }
        let details = JSONValue.object((failure as? Failure)?.details ?? [])
        let findings = (details["findings"]?.elements ?? []).map { finding in
            ReportContent.Health.Finding(
                message: redaction.sentence(finding["message"]?.string ?? ""),
                segment: finding["segment"]?.number, offset: finding["offset"]?.number)
        }
        let count = details["findingCount"]?.number ?? UInt64(findings.count)
        let title = StoreKinds.current.title(of: place)
        return .init(
            isSound: false, lines: findings.isEmpty ? [redaction.sentence(failure)] : [],
            findings: findings, count: count,
            failure: findings.isEmpty
                ? Failure(failure)
                : Failure(
                    "\(title) is damaged: \(PlainText.count(count, "finding")), see the report",
                    code: .damaged))
    }

    private func part<Content>(_ body: () throws -> Content) -> ReportContent.Part<Content> {
        do {
            return .known(try body())
        } catch {
            return .unknown("This part could not be read: \(redaction.sentence(error))")
        }
    }

    // MARK: A store that opens

    private mutating func read(_ session: StoreSession, damage: [UInt32: String]) throws -> Opened {
        let log = session.store as? LogStore
        let space = log.map { log in part { try self.space(of: log) } }
        // Each status searches for processes that have the store open: once is enough.
        let status = log.map { _ in part { try LogStore.status(at: place) } }
        let treemap: ReportContent.Part<SpaceTreemap> =
            switch space {
            case .known(let space):
                .known(SpacePicture.treemap(of: space, status?.content?.checkpoints ?? []))
            case .unknown(let reason): .unknown(reason)
            case nil: part { try SpacePicture.treemap(of: session.store, at: place) }
            }
        return Opened(
            model: session.schema.model, leftOutIndexes: session.leftOutIndexes, space: space,
            treemap: treemap,
            strip: strip(status, log, damage),
            commits: part { try CommitPicture.timeline(at: place, session.store) },
            transactions: transactions(session))
    }

    private func strip(
        _ status: ReportContent.Part<StoreStatus>?, _ log: LogStore?, _ damage: [UInt32: String]
    ) -> ReportContent.Part<LogStrip>? {
        switch status {
        case .known(let status): part { try LogPicture.strip(of: status, log, damage: damage) }
        case .unknown(let reason): .unknown(reason)
        case nil: nil
        }
    }

    private func space(of log: LogStore) throws -> StoreSpace {
        let blocks = try log.statistics().entities.reduce(0) { $0 + $1.blocks }
        var done = 0
        return try log.space { _, _ in
            done += 1
            tell("reading blocks", done, blocks)
        }
    }

    private mutating func transactions(_ session: StoreSession)
        -> ReportContent.Part<[ReportContent.Transaction]>?
    {
        do {
            guard let bounds = try session.store.historyBounds() else { return nil }
            let past = session.store as? any PastStore
            let first = try past?.pastStateBounds()?.horizon ?? .max
            var transactions: [ReportContent.Transaction] = []
            for transaction in try newest(session.store, bounds) {
                let hasValues =
                    !redaction.isOn && transactions.count < Self.mostWithValues
                    && first < transaction.transactionNumber
                transactions.append(
                    .init(
                        number: transaction.transactionNumber,
                        time: TransactionText.time(transaction),
                        author: transaction.author.map { redaction.author($0) } ?? "",
                        program: TransactionText.program(transaction)
                            + (transaction.contextName.map { ", in \($0)" } ?? ""),
                        changes: TransactionText.sums(transaction),
                        values: hasValues ? try past.map { try values($0, transaction) } ?? [] : [])
                )
            }
            return .known(transactions)
        } catch {
            return .unknown("The history could not be read: \(redaction.sentence(error))")
        }
    }

    /// Returns the newest transactions, newest first. There may be few among many commits.
    private func newest(_ store: any CommandStore, _ bounds: PersistentHistoryBounds) throws
        -> [PersistentHistoryTransaction]
    {
        var width = Self.window
        while true {
            let reachesAll = width >= bounds.last - min(bounds.last, bounds.horizon)
            let start = reachesAll ? bounds.horizon : bounds.last - width
            var last: [PersistentHistoryTransaction] = []
            let cursor = try store.historyCursor(after: start)
            while let transaction = try cursor.next() {
                last.append(transaction)
                if last.count >= 2 * Self.mostTransactions {
                    last.removeFirst(Self.mostTransactions)
                }
            }
            if reachesAll || last.count >= Self.mostTransactions {
                return last.suffix(Self.mostTransactions).reversed()
            }
            width *= 16
        }
    }

    private func values(_ past: any PastStore, _ transaction: PersistentHistoryTransaction) throws
        -> [ReportContent.Transaction.Values]
    {
        var values: [ReportContent.Transaction.Values] = []
        try past.readValues(of: transaction) { object in
            for name in TransactionText.changed(object) {
                values.append(
                    .init(
                        object: TransactionText.name(object), property: name,
                        words: TransactionText.values(of: name, object)))
            }
            return values.count < Self.mostValues
        }
        return Array(values.prefix(Self.mostValues))
    }
}
