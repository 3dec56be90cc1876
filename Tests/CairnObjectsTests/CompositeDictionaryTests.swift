// Composite attributes set and read by key as dictionaries.

import Cairn
import CairnTestSupport
import Foundation
import Testing

@testable import CairnObjects

@Suite("Composite values as dictionaries")
struct CompositeDictionaryTests {
    @Test("A composite takes a dictionary of its elements, and one in it a dictionary of its own")
    func nested() throws {
        let container = try PersistentContainer(inMemoryFor: TypedThing.self)
        let context = ManagedObjectContext(store: container.store, classes: container.classes)
        let thing = context.insert(TypedThing.self)
        thing["place"] = [
            "latitude": 7.5, "address": ["street": "Main", "city": "Rome"] as [String: Any],
            "second.city": "Paris",
        ]
        #expect(thing.place?.latitude == 7.5)
        #expect(thing.place?.address.city == "Rome" && thing.place?.address.street == "Main")
        #expect(thing.place?.second?.city == "Paris")
        // What is read may be set again.
        let all = try #require(thing["place"] as? [String: Any])
        #expect(all["place.address.city"] as? String == "Rome")
        let other = context.insert(TypedThing.self)
        other["place"] = all
        #expect(other.place == thing.place)
        // One in it by itself.
        let inner = try #require(thing["place.second"] as? [String: Any])
        #expect(inner["place.second.city"] as? String == "Paris")
        thing["place.second"] = ["street": "Side"]
        #expect(thing.place?.second?.street == "Side" && thing.place?.second?.city == nil)
        #expect(thing.place?.latitude == 7.5)
        thing["place.second"] = nil
        #expect(thing.place?.second == nil && thing.place != nil)
        try context.save()
        thing["place"] = nil
        #expect(thing.place == nil)
    }

    @Test("What is no element is named, with the elements that there are")
    func refused() throws {
        let container = try PersistentContainer(inMemoryFor: TypedThing.self)
        let context = ManagedObjectContext(store: container.store, classes: container.classes)
        let thing = context.insert(TypedThing.self)
        func refusal(_ value: Any) -> StoreError? {
            storeError { try thing.setValue(value, forKey: "place") }
        }
        let unknown = refusal(["town": "Rome"])
        #expect(unknown?.context.key == "place.town")
        #expect(unknown?.message.contains("place.latitude") == true)
        #expect(refusal(["second": ["town": 1]])?.context.key == "place.second.town")
        #expect(refusal(["second": 5])?.context.key == "place.second")
        #expect(refusal(5)?.context.key == "place")
    }
}
