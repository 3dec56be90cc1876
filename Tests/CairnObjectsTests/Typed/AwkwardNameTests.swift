// Types inside types, and properties whose names the generated code or the language uses.

import Cairn
import Foundation
import StoreBackends
import Testing

@Suite("Awkward names of types and properties")
struct AwkwardNameTests {
    private func stack(_ backend: Backend, _ types: any PersistentEntity.Type...) throws -> Stack {
        try Stack(ManagedObjectModel(for: types), backend, classes: ObjectClasses(for: types))
    }

    @Test("Composite structs can stand inside other types", arguments: Backend.allCases)
    func nested(_ backend: Backend) throws {
        let stack = try stack(backend, Workshop.Bench.self)
        let context = stack.context()
        let bench = context.insert(Workshop.Bench.self)
        bench.corner.x = 4
        bench.mark = Workshop.Corner.Mark(letter: "m")
        bench.own.height = 2.5
        try context.save()
        let request = try FetchRequest<Workshop.Bench>(
            #Predicate { $0.corner.x == 4 && $0.own.height > 2 })
        let twin = try #require(try stack.context().fetch(request).first)
        #expect(twin.corner == Workshop.Corner(x: 4) && twin.mark?.letter == "m")
        #expect(twin.own == Workshop.Bench.Leg(height: 2.5))
        #expect(Workshop.Bench._key(for: \.own.height) == "own.height")
        #expect(Workshop.Bench._key(for: \.mark?.letter) == "mark.letter")
    }

    @Test(
        "Names of generated code and keywords are names like any other", arguments: Backend.allCases
    )
    func names(_ backend: Backend) throws {
        let stack = try stack(backend, TypedAwkward.self, TypedAwkwardChild.self)
        let context = stack.context()
        let object = context.insert(TypedAwkwardChild.self)
        object.binding = "B"
        object.Parent = 11
        object.default = 12
        object.class = "C"
        object.`init` = 13
        object.snapshot = 14
        object.version = 15
        object.child = 16
        object.parts.writer = "W"
        object.parts.reader = 17
        object.parts.default = false
        object.extension = object
        try context.save()
        let twin = try #require(
            try stack.context().fetch(FetchRequest<TypedAwkwardChild>()).first)
        #expect(twin.binding == "B" && twin.Parent == 11 && twin.default == 12 && twin.class == "C")
        #expect(twin.`init` == 13 && twin.snapshot == 14 && twin.version == 15)
        #expect(twin.child == 16 && twin.self_ == 10)
        #expect(
            twin.parts
                == AwkwardParts(writer: "W", reader: 17, value0: 2, default: false, kind: nil))
        #expect(twin.extension === twin && twin.in == [twin])
        #expect(TypedAwkwardChild._key(for: \.`init`) == "init")
        #expect(TypedAwkwardChild._key(for: \.extension?.default) == "extension.default")
        let values = twin.snapshot()
        #expect(values.default == 12 && values.version == 15 && values.child == 16)
        // The snapshot's own version has the name of a property, which is there by key.
        #expect(values.objectVersion == 1 && values["objectVersion"] as? Int == 8)
    }

    @Test("A batch insert sets properties of any name")
    func batch() throws {
        let context = try stack(.log, TypedAwkward.self, TypedAwkwardChild.self).context()
        let request = BatchInsertRequest(TypedAwkwardChild.Columns.self, from: ["x"]) { row, name in
            row.binding = name
            row.default = 5
            row.child = 6
            row.Parent = 7
        }
        try context.execute(request)
        let object = try #require(try context.fetch(FetchRequest<TypedAwkwardChild>()).first)
        #expect(object.binding == "x" && object.default == 5)
        #expect(object.child == 6 && object.Parent == 7)
    }
}
