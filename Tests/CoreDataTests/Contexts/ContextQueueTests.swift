// Where the work of contexts is done.

import CoreData
import Testing

@Suite("Queues of contexts")
struct ContextQueueTests {
    @Test("work inside work of the same context runs at once")
    func nested() {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        var order: [Int] = []
        context.performAndWait {
            order.append(1)
            context.performAndWait { order.append(2) }
            order.append(3)
        }
        #expect(order == [1, 2, 3])
    }

    @Test("a result and an error come back from the queue")
    func results() async throws {
        struct Failure: Error {}
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        #expect(await context.perform { 3 } == 3)
        #expect(context.performAndWait { "text" } == "text")
        #expect(throws: Failure.self) { try context.performAndWait { throw Failure() } }
    }

    @Test("work of a context inside work that it waits for runs at once")
    func throughOthers() {
        let one = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        let main = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        var order: [Int] = []
        one.performAndWait {
            other.performAndWait {
                order.append(1)
                one.performAndWait {
                    order.append(2)
                    other.performAndWait { order.append(3) }
                }
            }
            main.performAndWait {
                dispatchPrecondition(condition: .onQueue(.main))
                one.performAndWait { order.append(4) }
            }
        }
        #expect(order == [1, 2, 3, 4])
    }

    @Test("what is asked for runs in order; at once only if that is wanted and possible")
    func order() async {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        let log = Log()
        log.ask(context, 100)
        await context.perform { log.add(100) }
        #expect(log.numbers == Array(0...100))
        await context.perform(schedule: .enqueued) { log.add(101) }
        #expect(context.performAndWait { log.numbers.last } == 101)
    }

    /// Numbers that blocks write down.
    final class Log: @unchecked Sendable {
        // On the queue of a context.
        private(set) var numbers: [Int] = []

        func add(_ number: Int) { numbers.append(number) }

        /// Asks for numbers to be written down.
        func ask(_ context: NSManagedObjectContext, _ count: Int) {
            for number in 0..<count { context.perform { self.add(number) } }
        }
    }

    @Test("each of many threads has its turn")
    func threads() async {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        let log = Log()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                group.addTask {
                    if number.isMultiple(of: 2) {
                        await context.perform { log.add(number) }
                    } else {
                        context.performAndWait { log.add(number) }
                    }
                }
            }
        }
        #expect(context.performAndWait { log.numbers.sorted() } == Array(0..<50))
    }

    @Test("work that was asked for goes along to the queue of a parent")
    func goingOver() async throws {
        let parent = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        let log = Log()
        log.ask(child, 20)
        child.parent = parent
        await child.perform {
            dispatchPrecondition(condition: .onQueue(.main))
            log.add(20)
        }
        #expect(log.numbers == Array(0...20))
    }

    @Test("the main actor is where a main context works, also behind the work of others")
    @MainActor func mainActor() {
        let main = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        var order: [Int] = []
        main.performAndWait { order.append(1) }
        other.performAndWait {
            main.performAndWait {
                other.performAndWait { order.append(2) }
            }
        }
        #expect(order == [1, 2])
    }
}
