// How statements about many rows should be planned: with the index, row by row.
//
// A part of a batch asks for ten thousand rows by their keys. A planner that holds reading the whole table against that finds it
// cheaper as soon as the table fits into memory; with as many parts as the table has such numbers of rows, a batch would take time
// by the square of its rows.

/// Settings of a transaction.
enum IndexedPlans {
    /// Sets them until the transaction ends, as far as the server knows them.
    static let statement = Statement(
        """
        SELECT set_config(name, 'off', true) FROM pg_catalog.pg_settings \
        WHERE name IN ('enable_hashjoin', 'enable_mergejoin', 'enable_seqscan')
        """)
}
