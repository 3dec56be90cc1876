// What a program keeps with a store.

import CairnModel
import CairnStore
import FoundationEssentials
import StoreBackends
import Testing

@Suite("Metadata of a store")
struct MetadataTests {
    private static let values: [String: Value] = [
        "text": .string("größer"), "number": .integer(.min), "half": .double(0.5),
        "exact": .decimal(SampleObjects.decimal("1.10")), "yes": .boolean(true),
        "bytes": .binary(Data([0, 1])), "moment": .date(SampleObjects.date(1.5)),
        "mark": .uuid(SampleObjects.uuid(3)),
    ]

    @Test("Values are there as they were set, all of them each time", arguments: Backend.everyStore)
    func values(_ backend: Backend) throws {
        try backend.withSubject { subject in
            let store = subject.store
            let first = try store.metadata()
            #expect(first.values.isEmpty && !first.type.isEmpty)
            #expect(first.identifier == store.identity.identifier)
            #expect(first.model.entities.count == SampleModel.model.entities.count)
            try store.setMetadata(Self.values.merging(["gone": .null]) { $1 })
            #expect(try store.metadata().values == Self.values)
            #expect(try store.metadata()["text"] == .string("größer"))
            try store.setMetadata(["other": .integer(1)])
            #expect(try store.metadata().values == ["other": .integer(1)])
            try subject.insert("Item", ["code": "a"])
            #expect(try store.metadata().values == ["other": .integer(1)])
            #expect(!store.hasMetadataToWrite)
            try store.setMetadata([:])
            try store.writeMetadata()
            #expect(try store.metadata().values.isEmpty && !store.hasMetadataToWrite)
            #expect(try subject.names("Item") == "a")
        }
    }

    @Test(
        "An object's id is no value, and what was set before stays", arguments: Backend.everyStore)
    func refused(_ backend: Backend) throws {
        try backend.withSubject { subject in
            try subject.store.setMetadata(["a": .integer(1)])
            let id = try subject.insert("Item", ["code": "a"])
            let error = storeError { try subject.store.setMetadata(["id": .objectID(id)]) }
            #expect(error?.code == .invalidRequest)
            #expect(try subject.store.metadata().values == ["a": .integer(1)])
        }
    }

    @Test(
        "They are written with the next save, or at once, and are there after opening again",
        arguments: Backend.lastingStores)
    func reopened(_ backend: Backend) throws {
        try backend.withPlace(SampleModel.schema) { place in
            var subject = Subject(store: try place.open())
            try subject.store.setMetadata(Self.values)
            #expect(subject.store.hasMetadataToWrite)
            try subject.insert("Item", ["code": "a"])
            #expect(!subject.store.hasMetadataToWrite)
            try subject.store.close()
            subject = Subject(store: try place.open())
            #expect(try subject.store.metadata().values == Self.values)
            try subject.store.setMetadata(["b": .integer(2)])
            try subject.store.writeMetadata()
            try subject.store.close()
            subject = Subject(store: try place.open())
            #expect(try subject.store.metadata().values == ["b": .integer(2)])
            // A save that fails leaves them waiting; another identifier counts from the next opening on.
            try subject.store.setMetadata(["c": .integer(3)], identifier: SampleObjects.uuid(9))
            #expect(storeError { try subject.insert("Item", ["code": "a"]) } != nil)
            #expect(subject.store.hasMetadataToWrite)
            try subject.store.writeMetadata()
            #expect(try subject.store.metadata().identifier == SampleObjects.uuid(9))
            #expect(subject.store.identity.identifier != SampleObjects.uuid(9))
            try subject.store.close()
            subject = Subject(store: try place.open())
            #expect(try subject.store.metadata()["c"] == .integer(3))
            #expect(subject.store.identity.identifier == SampleObjects.uuid(9))
            #expect(try subject.id("Item", "a").store == SampleObjects.uuid(9))
        }
    }
}
