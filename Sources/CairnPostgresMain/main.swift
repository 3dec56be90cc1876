// The command line tool `cairn-postgres`: the whole of `cairn`, with stores in PostgreSQL as well.

import CairnTool

Tool.main(StoreKinds([PostgresKind()]))
