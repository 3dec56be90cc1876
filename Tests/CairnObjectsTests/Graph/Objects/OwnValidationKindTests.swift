// Which classes are asked about the values of their objects, and which cost nothing.

import Cairn
import Testing

@testable import CairnObjects

@Suite("What a class validates itself")
struct OwnValidationKindTests {
    private func words(_ type: ManagedObject.Type) -> String {
        switch OwnValidation(of: type) {
        case .none: "none"
        case .properties(let numbers): "\(numbers)"
        case .all: "all"
        }
    }

    @Test("Plain objects and typed classes without such methods are not asked at all")
    func none() {
        #expect(words(ManagedObject.self) == "none")
        #expect(words(UncheckedThing.self) == "none")
    }

    @Test("Methods of single properties are asked about these alone, inherited ones too")
    func properties() {
        #expect(words(CheckedThing.self) == "[0, 1, 2, 3, 4, 5, 6, 7, 8]")
        #expect(words(CheckedOwner.self) == "[0]")
        #expect(words(CheckedToy.self) == "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]")
    }

    @Test("Who overrides the method by key is asked everything, and so is who no macro has seen")
    func all() {
        #expect(words(CheckedByKey.self) == "all")
        #expect(words(UnseenThing.self) == "all")
        #expect(words(Witness.self) == "all")
    }
}
