// The same random operations on a store and on the dictionary, which is so simple that it is obviously right.

import CairnModel
import CairnStore
import CairnTestSupport
import StoreBackends
import Testing

@Suite("Random operations")
struct RandomOperationTests {
    @Test(
        "A store comes to what the dictionary comes to, or refuses what that refuses",
        arguments: Backend.everyStore.filter { $0 != .dictionary })
    func operations(_ backend: Backend) throws {
        try Rounds.run("random operations, \(backend)", everyDay: 3, whole: 300) { random in
            let seed = random.seed
            try backend.withSubject { subject in
                try Backend.dictionary.withSubject { plain in
                    for each in [subject, plain] {
                        try each.batch("Person", RandomOperation.people.map { ["name": $0] })
                        try each.batch("Tag", RandomOperation.tags.map { ["label": $0] })
                    }
                    for _ in 0..<60 {
                        let operation = RandomOperation.random(&random)
                        try compare(
                            operation, subject, plain, seed, versions: backend != .postgres)
                    }
                }
            }
        }
    }

    private func compare(
        _ operation: RandomOperation, _ subject: Subject, _ plain: Subject, _ seed: UInt64,
        versions: Bool
    ) throws {
        let before = try plain.content()
        let round = "seed \(seed): \(operation) in \(before)"
        let (one, other) = (try operation.run(subject), try operation.run(plain))
        #expect(one == other, "\(round)")
        // A row that is made again has a version behind the number of the commit, and not everybody counts commits alike.
        let content = try subject.content(versions: versions)
        let expected = try plain.content(versions: versions)
        try #require(content == expected, "\(round)")
        for condition in RandomOperation.conditions {
            #expect(
                try subject.names("Item", condition) == plain.names("Item", condition),
                "\(condition) after \(round)")
        }
    }
}
