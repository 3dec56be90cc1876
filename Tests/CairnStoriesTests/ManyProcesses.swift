// The examples of the article of this name, as code that runs. One process plays two: each has an engine of its own.

import Cairn
import CairnTestSupport
import Foundation
import Testing

@Entity
final class TheatreSeat: ManagedObject {
    @Attribute(.unique) var number: Int = 0
    var holder: String = ""
}

@Suite("App and extension, server and job")
struct ManyProcesses {
    private func open(_ path: String, process: Int) throws -> PersistentContainer {
        // ManyProcesses 1 begins
        var options = LogStoreOptions()
        options.timeout = 30  // seconds that a commit waits for its turn; 0 = it does not wait
        // ManyProcesses 1 pauses
        options.process = process
        // ManyProcesses 3 begins
        options.allowsSharedDisk = true  // cairn: --shared-disk
        // ManyProcesses 3 ends
        // ManyProcesses 1 goes on
        let container = try PersistentContainer(at: path, for: TheatreSeat.self, options: options)
        // ManyProcesses 1 ends
        return container
    }

    @Test("A server and a job sell seats, and none is sold twice")
    func seats() async throws {
        let directory = try TemporaryDirectory()
        let server = try open(directory.path("seats.cairn"), process: 1)
        let job = try open(directory.path("seats.cairn"), process: 2)
        try await withThrowingTaskGroup { group in
            for (container, name) in [(server, "server"), (job, "job")] {
                group.addTask {
                    for number in 0..<20 {
                        // ManyProcesses 2 begins
                        try await container.performBackgroundTask { context in
                            let seat = context.insert(TheatreSeat.self)
                            (seat.number, seat.holder) = (number, name)
                            do {
                                try context.save()
                            } catch let error as StoreError where error.code == .constraintConflict
                            {
                                // Somebody else has sold it.
                                context.rollback()
                            }
                        }
                        // ManyProcesses 2 ends
                    }
                }
            }
            try await group.waitForAll()
        }
        for container in [server, job] {
            let count = try await container.performBackgroundTask { context in
                try context.count(for: FetchRequest<TheatreSeat>())
            }
            #expect(count == 20)
        }
    }
}
