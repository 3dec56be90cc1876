// Which classes look at values themselves: nobody sees it from outside but by the time that a save takes.

import Testing

@testable import CoreData

@Suite("Classes that validate values")
struct OverriddenValidationTests {
    private class Inheriting: Checked {}

    @Test("a class that overrides validateValue is told from one that does not")
    func classes() {
        #expect(OverriddenValidation.isIn(Checked.self))
        #expect(OverriddenValidation.isIn(Inheriting.self))
        #expect(!OverriddenValidation.isIn(Note.self))
        #expect(!OverriddenValidation.isIn(City.self))
        #expect(!OverriddenValidation.isIn(NSManagedObject.self))
    }
}
