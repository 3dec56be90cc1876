// Which new objects became of which old ones, against a list that is searched from end to end.

import CairnTestSupport
import Testing

@testable import CairnObjects

@Suite("Associations of a migration")
struct InstanceAssociationsTests {
    @Test("They are found in both directions, whatever the order in which they were told")
    func random() {
        for seed in RandomSource.seeds(40) {
            var random = RandomSource(seed: seed)
            var associations = InstanceAssociations()
            var list: [(UInt32, UInt32)] = []
            // Some ascend for long, some at once not.
            let shuffles = random.below(3)
            for step in 0..<random.below(200) {
                let next = UInt32(step / (1 + random.below(2)))
                let source = random.below(40) < shuffles ? UInt32(random.below(100)) : next
                let destination = random.below(40) < shuffles ? UInt32(random.below(100)) : next
                associations.append(source: source, destination: destination)
                list.append((source, destination))
            }
            #expect(associations.count == list.count)
            for number in 0..<UInt32(210) {
                #expect(
                    associations.destinations(of: number)
                        == list.filter { $0.0 == number }.map(\.1), "seed \(seed)")
                #expect(
                    associations.sources(of: number) == list.filter { $0.1 == number }.map(\.0),
                    "seed \(seed)")
            }
            for (place, pair) in list.enumerated() {
                #expect(associations.source(at: place) == pair.0)
                #expect(associations.destination(at: place) == pair.1)
            }
            if Set(list.map(\.1)).count < list.count {
                #expect(associations.mayRepeatDestinations, "seed \(seed)")
            }
        }
    }
}
