// Accounts that are never deleted for good, tenants that have them: what constraints with options are for.

import CairnModel
import CairnObjects
import FoundationEssentials

enum AccountModel {
    static func model(_ rules: [UniquenessRule], plain: [[String]] = []) -> ManagedObjectModel {
        var account = EntityDescription(
            "Account",
            attributes: [
                .init("number", .integer64), .init("name", .string), .init("level", .integer16),
                .init("deletedAt", .date), .init("note", .string),
            ],
            relationships: [.init("tenant", to: "Tenant", inverse: "accounts")],
            uniquenessConstraints: plain)
        account.uniquenessRules = rules
        var special = EntityDescription("Special", attributes: [.init("rank", .integer16)])
        special.superentityName = "Account"
        let tenant = EntityDescription(
            "Tenant", attributes: [.init("title", .string)],
            relationships: [
                .init("accounts", to: "Account", toMany: true, inverse: "tenant")
            ])
        return ManagedObjectModel(entities: [account, special, tenant])
    }

    /// Of the accounts in use no two have one name.
    static let inUse = UniquenessRule(["name"], format: "deletedAt == nil")

    static let moment = Date(timeIntervalSinceReferenceDate: 700_000_000)
}

extension ManagedObjectContext {
    /// All accounts as text, by number.
    func accounts() throws -> [String] {
        try all("Account").map { account in
            let values = account.entity.columns.map { column -> String in
                let value = account[column.name]
                if column.name == "tenant" {
                    return "tenant \((value as? ManagedObject)?.string("title") ?? "-")"
                }
                return "\(column.name) \(value.map { "\($0)" } ?? "-")"
            }
            return ([account.entity.name] + values).joined(separator: " ")
        }.sorted()
    }
}
