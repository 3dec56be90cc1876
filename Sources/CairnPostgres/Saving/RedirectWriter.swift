// Writes the redirects of objects that were merged into others.
//
// Threads: functions of values only.

import CairnLog

struct RedirectWriter {
    let layout: TableLayout

    func statements(_ redirects: [PartialStore.PlacedRedirect], _ catalog: Catalog) -> [Statement] {
        let table = layout.sql(.redirects)
        var (hierarchies, numbers, survivors) = (
            SQLArray(of: .int64), SQLArray(of: .int64), SQLArray(of: .int64)
        )
        var (ended, endedNumbers) = (SQLArray(of: .int64), SQLArray(of: .int64))
        for redirect in redirects {
            let hierarchy = Int64(catalog.trees[redirect.tree].id)
            if redirect.survivor == 0 {
                ended.append(number: hierarchy)
                endedNumbers.append(number: Int64(redirect.number))
            } else {
                hierarchies.append(number: hierarchy)
                numbers.append(number: Int64(redirect.number))
                survivors.append(number: Int64(redirect.survivor))
            }
        }
        var statements: [Statement] = []
        if ended.count > 0 {
            statements.append(
                Statement(
                    """
                    DELETE FROM \(table) WHERE (hierarchy, id) \
                    IN (SELECT * FROM unnest($1::bigint[], $2::bigint[]))
                    """, [.array(ended), .array(endedNumbers)]))
        }
        if numbers.count > 0 {
            statements.append(
                Statement(
                    """
                    INSERT INTO \(table) (hierarchy, id, survivor) \
                    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) \
                    ON CONFLICT (hierarchy, id) DO UPDATE SET survivor = excluded.survivor
                    """, [.array(hierarchies), .array(numbers), .array(survivors)]))
        }
        return statements
    }
}
