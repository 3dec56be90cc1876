// Ids of objects that are still to be stored.

import CairnModel
import CairnStore
import CairnTestSupport
import StoreBackends
import Synchronization
import Testing

@Suite("Permanent ids")
struct PermanentIDTests {
    @Test("Nobody gets an id twice, whoever asks at once", arguments: Backend.everyStore)
    func unique(_ backend: Backend) throws {
        try backend.withSubject { subject in
            let all = Mutex<[ObjectID]>([])
            let store = subject.store
            TestThreads.run(4) { _ in
                for _ in 0..<20 {
                    let ids = try? store.obtainPermanentIDs(forEntities: [0, 1, 0, 3])
                    all.withLock { $0 += ids ?? [] }
                }
            }
            let ids = all.withLock { $0 }
            #expect(ids.count == 320 && Set(ids).count == 320)
        }
    }

    @Test(
        "An id is of the entity's hierarchy, and its number has 32 bits",
        arguments: Backend.everyStore)
    func hierarchies(_ backend: Backend) throws {
        try backend.withSubject { subject in
            let (item, tool) = (try subject.entity("Item").index, try subject.entity("Tool").index)
            let person = try subject.entity("Person").index
            let ids = try subject.store.obtainPermanentIDs(forEntities: [item, tool, person, tool])
            let identity = subject.store.identity
            #expect(ids.count == 4 && Set(ids).count == 4)
            #expect(ids.allSatisfy { !$0.isTemporary && $0.reference <= UInt64(UInt32.max) })
            #expect(identity.owns(ids[0], entity: tool) && identity.owns(ids[1], entity: item))
            #expect(identity.owns(ids[2], entity: person) && !identity.owns(ids[2], entity: item))
            // Such an id survives as text.
            #expect(ObjectID(uriRepresentation: ids[3].uriRepresentation) == ids[3])
            #expect(try subject.store.obtainPermanentIDs(forEntities: []).isEmpty)
        }
    }
}
