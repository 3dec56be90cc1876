// How long it takes until a program hears of a commit that another process has made.
//
// One process commits from time to time, and says when each commit returned. This one has the store open, does nothing, and
// listens to the remote changes of its container, as an app does.

import ArgumentParser
import Cairn
import Foundation
import Synchronization

struct SharingNews {
    /// Seconds from a commit's return to when it was told, sorted.
    private let delays: [Double]

    static func measure(_ durability: SharingDurability, folder: String) throws -> SharingNews {
        try Folder.temporary(in: folder) { folder in
            let path = "\(folder)/news.cairn"
            let container = try PersistentContainer(at: path, for: Item.self)
            let told = Mutex<[Double]>([])
            let changes = container.remoteChanges
            let listener = Task {
                for await change in changes where change.isFromAnotherProcess {
                    let now = SharingNewsCommand.now
                    told.withLock { $0.append(now) }
                }
            }
            defer { listener.cancel() }
            let committed: [Double] = try SingleRun.ask(
                [SharingNewsCommand.name, path, durability.rawValue],
                failure: "another process could not write the store")
            // The last of them may be on its way.
            let end = SharingNewsCommand.now + 5
            while told.withLock({ $0.count }) < committed.count, SharingNewsCommand.now < end {
                usleep(1000)
            }
            let times = told.withLock { $0 }
            guard times.count == committed.count else {
                throw SingleRun.Failure(
                    description: "told of \(times.count) commits of \(committed.count)")
            }
            return SharingNews(delays: zip(times, committed).map { $0 - $1 }.sorted())
        }
    }

    func line(_ durability: SharingDurability) -> String {
        func milliseconds(_ share: Double) -> Double {
            delays[min(delays.count - 1, Int(Double(delays.count) * share))] * 1e3
        }
        return "  " + durability.rawValue.padding(toLength: 10, withPad: " ", startingAt: 0)
            + String(
                format: "%d commits  median %6.1f ms  99 %% %6.1f ms  most %6.1f ms", delays.count,
                milliseconds(0.5), milliseconds(0.99), milliseconds(1))
    }
}

/// The process that commits.
struct SharingNewsCommand: ParsableCommand {
    static let name = "sharing-news"
    static let configuration = CommandConfiguration(commandName: name, shouldDisplay: false)

    @Argument var store: String
    @Argument var durability: SharingDurability

    private static let commits = 200
    /// Microseconds between two commits: so that none is read together with another.
    private static let pauses: ClosedRange<UInt32> = 40_000...70_000

    /// Seconds of a clock that all processes have.
    static var now: Double { ProcessInfo.processInfo.systemUptime }

    func run() throws {
        var options = LogStoreOptions()
        options.durability = durability == .full ? .full : .relaxed
        let store = try LogStore.open(
            at: store, schema: Schema(ManagedObjectModel(for: Item.self)), options: options)
        let context = ManagedObjectContext(store: store, classes: ObjectClasses(for: Item.self))
        var times: [Double] = []
        for number in 0..<Self.commits {
            Item(context: context).serialCode = "news \(number)"
            try context.save()
            times.append(Self.now)
            usleep(.random(in: Self.pauses))
        }
        try store.close()
        print(String(decoding: try JSONEncoder().encode(times), as: UTF8.self))
    }
}
