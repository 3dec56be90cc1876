import Testing

@testable import CairnLog

@Suite("How large a model may be")
struct ModelLimitTests {
    @Test("More entities, or more columns of one, than positions can name are refused")
    func excess() {
        #expect(Catalog.excess(entities: 65_536, columns: 65_533) == nil)
        #expect(Catalog.excess(entities: 65_537, columns: 1) != nil)
        #expect(Catalog.excess(entities: 1, columns: 65_534) != nil)
    }
}
