// Many at once: the contract lets anybody call from any thread.

import CairnModel
import CairnStore
import CairnTestSupport
import StoreBackends
import Synchronization
import Testing

@Suite("Many at once")
struct SimultaneousTests {
    @Test(
        "Each of many saves is one commit, and none takes another's place",
        arguments: Backend.everyStore)
    func saves(_ backend: Backend) throws {
        try backend.withSubject { subject in
            let first = try subject.store.snapshot().commit
            let told = Mutex<[UInt64]>([])
            let observation = subject.store.observeChanges { set in
                told.withLock { $0.append(set.commit) }
            }
            TestThreads.run(4) { thread in
                for number in 0..<10 {
                    do {
                        try subject.insert("Item", ["code": "\(thread) \(number)"])
                    } catch {
                        Issue.record("\(error)")
                    }
                }
            }
            #expect(try subject.store.snapshot().commit == first + 40)
            #expect(try subject.store.snapshot().count(subject.fetch("Item")) == 40)
            #expect(told.withLock { $0 } == (1...40).map { first + $0 })
            observation.cancel()
        }
    }

    @Test(
        "Of many who change one object none overwrites another's change unseen",
        arguments: Backend.everyStore)
    func counter(_ backend: Backend) throws {
        try backend.withSubject { subject in
            let id = try subject.insert("Item", ["code": "a", "amount": 0])
            TestThreads.run(4) { _ in
                var done = 0
                while done < 5 {
                    do {
                        let row = try #require(try subject.store.snapshot().rows([id])[0])
                        let item = subject.schema.entities[row.entity]
                        let column = try #require(item.columnIndex(named: "amount"))
                        guard
                            case .integer(let amount) = row.cells.value(
                                column, of: item, in: subject.store.identity)
                        else { return }
                        var request = SaveRequest()
                        request.updated = [
                            .init(
                                id: id, entity: row.entity, base: row,
                                changes: [(column: column, value: .integer(amount + 1))])
                        ]
                        _ = try subject.store.save(request)
                        done += 1
                    } catch let error as StoreError where error.code == .mergeConflict {
                        // Somebody was faster: once more, from what is stored now.
                        continue
                    } catch {
                        Issue.record("\(error)")
                        return
                    }
                }
            }
            #expect(try subject.text("Item", "a", "amount") == "20")
            #expect(try subject.row("Item", "a").version == 21)
        }
    }
}
