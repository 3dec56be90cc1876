// The examples of the article of this name, as code that runs.

import Cairn
import StoreBackends
import Testing

@Entity
final class Measurement: ManagedObject {
    var place: String = ""
    var degrees: Double = 0
}

@Suite("What really changed")
struct WhatReallyChanged {
    @Test(
        "Setting a property to the value that it has writes nothing", arguments: Backend.compared)
    func same(_ backend: Backend) async throws {
        let container = try backend.container(for: Measurement.self)
        let commits = try await container.performBackgroundTask { context in
            let measurement = context.insert(Measurement.self)
            measurement.degrees = 20.5
            try context.save()
            let before = try container.store.snapshot().commit
            // WhatReallyChanged 1 begins
            measurement.degrees = 20.5
            // Set, and equal to what is stored: measurement.hasPersistentChangedValues is false, and a save writes nothing.
            // WhatReallyChanged 1 ends
            #expect(!measurement.hasPersistentChangedValues)
            try context.save()
            return try [before, container.store.snapshot().commit]
        }
        #expect(commits[0] == commits[1])
    }

    @Test("An edit and its values of before are there until the save", arguments: Backend.compared)
    func values(_ backend: Backend) async throws {
        let container = try backend.container(for: Measurement.self)
        try await container.performBackgroundTask { context in
            let measurement = context.insert(Measurement.self)
            measurement.degrees = 20.5
            try context.save()
            // WhatReallyChanged 2 begins
            measurement.degrees = 21
            let now = measurement.changedValues()["degrees"] as? Double
            let stored = measurement.committedValues(forKeys: ["degrees"])["degrees"] as? Double
            // 21.0 and 20.5
            // WhatReallyChanged 2 ends
            #expect(now == 21 && stored == 20.5)
            #expect(measurement.hasPersistentChangedValues)
        }
    }
}
