// Numbers as runs, beside a set of them.

import CairnStore
import CairnTestSupport
import Testing

@Suite("Runs of object numbers")
struct ObjectNumbersTests {
    @Test("Runs hold what a set of the numbers holds, alone and together")
    func random() {
        Rounds.run("runs of numbers", everyDay: 300, whole: 100_000) { random in
            func some() -> Set<UInt64> {
                let bound = UInt64.random(in: 1...200, using: &random)
                return Set(
                    (0..<Int.random(in: 0...80, using: &random)).map { _ in
                        UInt64.random(in: 0..<bound, using: &random)
                    })
            }
            let (one, other) = (some(), some())
            let numbers = ObjectNumbers(one)
            var both = ObjectNumbers(one.union(other).shuffled(using: &random))
            #expect(Array(numbers) == one.sorted())
            #expect(numbers.count == one.count && numbers.isEmpty == one.isEmpty)
            for number in UInt64(0)...200 {
                #expect(numbers.contains(number) == one.contains(number))
            }
            for (run, next) in zip(numbers.runs, numbers.runs.dropFirst()) {
                #expect(run.upperBound + 1 < next.lowerBound, "no two runs touch")
            }
            var united = numbers
            united.formUnion(ObjectNumbers(other))
            #expect(united == both)
            both.formUnion(united)
            #expect(united == both)
        }
    }

    @Test("The largest numbers are numbers like others")
    func largest() {
        var numbers = ObjectNumbers([.max - 1, .max, 0])
        #expect(numbers.count == 3 && numbers.runs.count == 2)
        numbers.formUnion(ObjectNumbers([.max, .max - 2]))
        #expect(Array(numbers) == [0, .max - 2, .max - 1, .max])
        #expect(numbers.runs == [0...0, .max - 2 ... .max])
    }
}
