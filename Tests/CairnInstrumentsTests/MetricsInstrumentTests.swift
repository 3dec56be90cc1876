// Events as metrics.

import CairnInstruments
import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import CoreMetrics
import MetricsTestKit
import Testing

@Suite("Events for swift-metrics")
struct MetricsInstrumentTests {
    @Test("Counters and timers have the figures, by entity and kind")
    func figures() throws {
        let metrics = TestMetrics()
        try Work.run([MetricsInstrument(factory: metrics)])
        func total(_ label: String, _ dimensions: [(String, String)] = []) throws -> Int64 {
            try metrics.expectCounter(label, dimensions).totalValue
        }
        let recipes = [("entity", "Recipe"), ("kind", "objects")]
        #expect(try total("cairn.fetches", recipes) == 2)
        #expect(try total("cairn.fetch.rows", recipes) == 60)
        #expect(try total("cairn.fetches", [("entity", "Recipe"), ("kind", "prefetch")]) == 1)
        #expect(try metrics.expectTimer("cairn.fetch.duration", recipes).values.count == 2)
        #expect(try total("cairn.faults", [("entity", "Type")]) == 30 + 30)
        #expect(try total("cairn.fault.misses", [("entity", "Type")]) == 30)
        #expect(
            try metrics.expectTimer("cairn.fault.duration", [("entity", "Type")]).values.count
                == 30)
        #expect(try total("cairn.saves") == 2)
        #expect(try total("cairn.save.updated") == 1)
        #expect(try total("cairn.save.conflicts") == 1)
        #expect(try total("cairn.save.failures") == 1)
        let durations = try metrics.expectTimer("cairn.save.duration").values
        #expect(durations.count == 2 && durations.allSatisfy { $0 > 0 })
        let batch = [("entity", "Type"), ("kind", "insert")]
        #expect(try total("cairn.batches", batch) == 1)
        #expect(try total("cairn.batch.inserted", batch) == 2)
        #expect(try total("cairn.refreshed") == 30)
    }

    @Test("The prefix is the program's, and metrics are made once")
    func prefix() throws {
        let metrics = TestMetrics()
        let instrument = MetricsInstrument(prefix: "shop.store", factory: metrics)
        try Work.run([instrument])
        let count = metrics.counters.count
        try Work.run([instrument])
        #expect(metrics.counters.count == count)
        #expect(metrics.counters.allSatisfy { $0.label.hasPrefix("shop.store.") })
        #expect(try metrics.expectCounter("shop.store.saves").totalValue == 4)
    }

    @Test("Advice is no number, and costs nothing")
    func advice() {
        #expect(!MetricsInstrument(factory: TestMetrics()).interests.contains(.advice))
    }

    @Test("Contexts of many threads count together")
    func threads() throws {
        let metrics = TestMetrics()
        let instrument = MetricsInstrument(factory: metrics)
        TestThreads.run(4) { _ in
            for _ in 0..<5 {
                do { try Work.run([instrument]) } catch { Issue.record(error) }
            }
        }
        #expect(try metrics.expectCounter("cairn.saves").totalValue == 40)
        #expect(
            try metrics.expectCounter("cairn.fault.misses", [("entity", "Type")]).totalValue
                == 600)
    }
}
