// Saves that give a key up, which nobody else can have taken: they meet conflicts as all others do.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("Keys that are given up")
struct GivenUpKeyTests {
    @Test(
        "A key that becomes nil hides no conflict, of its object and of others",
        arguments: Backend.allCases)
    func conflicts(_ backend: Backend) throws {
        for changesOther in [false, true] {
            let stack = try Stack(Models.vehicles, backend)
            let ids = try stack.store { context in
                ["x", "y"].map { context.make("Car", ["numberPlate": $0, "maker": "old"]) }
            }
            let mine = stack.context()
            let cars = ids.map { mine.object(with: $0) }
            #expect(cars.map { $0.string("maker") } == ["old", "old"])
            // Somebody else changes the object that gives its key up, or another one of the same save.
            let other = stack.context()
            other.object(with: ids[changesOther ? 1 : 0])["maker"] = "theirs"
            try other.save()
            cars[0]["numberPlate"] = nil
            if changesOther { cars[1]["maker"] = "mine" }
            let error = storeError { try mine.save() }
            #expect(error?.code == .mergeConflict)
            let fresh = stack.context()
            #expect(fresh.object(with: ids[0]).string("numberPlate") == "x")
            #expect(
                fresh.object(with: ids[changesOther ? 1 : 0]).string("maker") == "theirs")
            // Without a conflict it is saved.
            mine.rollback()
            for car in cars { mine.refresh(car, mergeChanges: false) }
            cars[0]["numberPlate"] = nil
            try mine.save()
            #expect(stack.context().object(with: ids[0]).string("numberPlate") == nil)
        }
    }

    @Test("A save of nothing makes no commit", arguments: Backend.allCases)
    func nothing(_ backend: Backend) throws {
        let stack = try Stack(Models.vehicles, backend)
        let before = try stack.store.snapshot().commit
        guard case .saved(let result) = try stack.store.save(SaveRequest()) else {
            Issue.record("a save of nothing has met a conflict")
            return
        }
        #expect(result.commit == nil)
        #expect(try stack.store.snapshot().commit == before)
    }
}
