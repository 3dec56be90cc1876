// The targets of a batch that do not exist.

import CairnStore

/// Targets that do not exist at the end of a batch; the first hundred are listed.
struct MissingTargets {
    private var errors: [StoreError] = []
    private(set) var count = 0

    mutating func note(_ plan: RowLinkPlan, _ wanted: RowLinkPlan.Wanted, row: Int) {
        count += 1
        if errors.count < 100 { errors.append(plan.missing(wanted, row: row)) }
    }

    /// - Throws: the error, or all of them in the order of the rows.
    func check(_ entity: String) throws(StoreError) {
        if count == 1 { throw errors[0] }
        if count > 1 {
            throw StoreError(
                .multiple, "\(count) relationship targets do not exist",
                context: .init(entity: entity),
                details: errors.sorted { ($0.context.row ?? 0) < ($1.context.row ?? 0) })
        }
    }
}
