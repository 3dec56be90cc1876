// #Unique with options: what is written for them, and what is refused.

import Testing

@Suite("Options of #Unique")
struct UniqueOptionTests {
    @Test("Options become a rule of the entity, plain lists stay lists")
    func expansion() {
        let expansion = Expansion(
            #"""
            @Entity final class A: ManagedObject {
                #Unique<A>([\.code])
                #Unique<A>([\.tenant, \.email], [\.email], where: "deletedAt == nil", nilsAreEqual: true, caseInsensitive: true)
                #Unique<A>([\.email], nilsAreEqual: false, diacriticInsensitive: true)
                #Unique<A>([\.tenant], where: nil, caseInsensitive: false)
                var code: Int
                var tenant: Tenant?
                var email: String?
                var deletedAt: Date?
            }
            """#)
        #expect(expansion.reports.isEmpty)
        let options = #"format: "deletedAt == nil", nilsAreEqual: true, caseInsensitive: true"#
        #expect(
            expansion.words.contains(
                #"unique: [["code"], ["tenant"]], rules: [Cairn.UniquenessRule(["tenant", "email"], \#(options)), "#
                    + #"Cairn.UniquenessRule(["email"], \#(options)), "#
                    + #"Cairn.UniquenessRule(["email"], diacriticInsensitive: true)]"#))
    }

    private static let misuses: [Misused] = [
        .member(
            "a condition that is no literal", #"#Unique<A>([\.a], where: text)"# + "\nvar a: Int",
            "2:26 this must be a string literal, because the macro reads it"),
        .member(
            "a flag that is no literal",
            #"#Unique<A>([\.a], nilsAreEqual: flag)"# + "\nvar a: Int?",
            "2:33 this must be 'true' or 'false', because the macro reads it"),
        .member(
            "no string among the keys",
            #"#Unique<A>([\.a, \.b], caseInsensitive: true)"# + "\nvar a: Int\nvar b: Date",
            "2:24 'caseInsensitive' requires a list with at least one string property"),
        .member(
            "no string in one of the lists",
            #"#Unique<A>([\.a], [\.b], diacriticInsensitive: true)"#
                + "\nvar a: Int\nvar b: String",
            "2:26 'diacriticInsensitive' requires a list with at least one string property"),
        .member(
            "options without a list", #"#Unique<A>(nilsAreEqual: true)"# + "\nvar a: Int",
            "2:1 #Unique requires at least one property"),
    ]

    @Test("What options cannot be", arguments: misuses)
    func refused(_ misuse: Misused) {
        #expect(Expansion(misuse.source).reports == misuse.reports)
    }
}
